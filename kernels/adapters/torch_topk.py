# SPDX-License-Identifier: Apache-2.0
"""torch.topk, row by row: the library call that every fallback ends in.

A GPU's radix key puts -0.0 below +0.0 and ranks every NaN first; indices of equal scores are not promised. Orders by
score, so nothing is promised beyond repeatability of the bytes; pages are mapped by indexing.
"""
import topkcts_adapter

torch = topkcts_adapter.require("torch")


def select(scores, seq_lens, page_table, page_size, topk):
    raw = torch.full((scores.shape[0], topk), -1, dtype=torch.int64, device=scores.device)
    pages = raw.clone()
    for row, length in enumerate(seq_lens.tolist()):
        if length <= topk:
            chosen = torch.arange(length, device=scores.device)
        else:
            chosen = torch.topk(scores[row, :length], topk).indices
        raw[row, :len(chosen)] = chosen
        pages[row, :len(chosen)] = page_table[row, chosen // page_size].long() * page_size + chosen % page_size
    return pages, raw


topkcts_adapter.serve(select, name="torch-topk", version=torch.__version__, tensors="torch",
                      versions={"torch": torch.__version__, "cuda": str(torch.version.cuda), "hip": str(torch.version.hip)},
                      claims={"level": "repeatable", "tie": "any", "zero": "bits"})
