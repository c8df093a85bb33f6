# SPDX-License-Identifier: Apache-2.0
"""NumPy's argpartition: a right set in an order of its own; which of equal scores it takes is not said."""
import topkcts_adapter

numpy = topkcts_adapter.require("numpy")


def select(scores, seq_lens, page_table, page_size, topk):
    raw = numpy.full((scores.shape[0], topk), -1, numpy.int32)
    for row, length in enumerate(seq_lens):
        if length <= topk:
            chosen = numpy.arange(length)
        else:
            chosen = numpy.argpartition(-scores[row, :length], topk - 1)[:topk]
        raw[row, :len(chosen)] = chosen
    return topkcts_adapter.map_pages(raw, page_table, page_size), raw


topkcts_adapter.serve(select, name="numpy-argpartition", version=numpy.__version__,
                      claims={"level": "repeatable", "tie": "any"})
