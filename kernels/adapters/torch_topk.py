# SPDX-License-Identifier: Apache-2.0
"""torch.topk, row by row: the library call that every fallback ends in.

A GPU's radix key puts -0.0 below +0.0 and ranks every NaN first; the CPU compares floats. Which of equal scores is
taken is not promised on either. The order is by score, so nothing above repeatable bytes is promised. Pages are mapped
by indexing.
"""
import topkcts_adapter

torch = topkcts_adapter.require("torch")


def select(scores, seq_lens, page_table, page_size, topk):
    raw = torch.full((scores.shape[0], topk), -1, dtype=torch.int64, device=scores.device)
    for row, length in enumerate(seq_lens.tolist()):
        if length <= topk:
            chosen = torch.arange(length, device=scores.device)
        else:
            chosen = torch.topk(scores[row, :length], topk).indices
        raw[row, :len(chosen)] = chosen
    return topkcts_adapter.map_pages(raw, page_table, page_size), raw


topkcts_adapter.serve(select, name="torch-topk", version=torch.__version__, tensors="torch",
                      versions=topkcts_adapter.torch_versions(),
                      claims={"level": "repeatable", "tie": "any"})
