# SPDX-License-Identifier: Apache-2.0
"""NumPy's stable sort as an indexer top-k: canonical, and an oracle that shares no code with this suite."""
import topkcts_adapter

numpy = topkcts_adapter.require("numpy")


def select(scores, seq_lens, page_table, page_size, topk):
    raw = numpy.full((scores.shape[0], topk), -1, numpy.int32)
    pages = raw.copy()
    for row, length in enumerate(seq_lens):
        chosen = numpy.sort(numpy.argsort(-scores[row, :length], kind="stable")[:topk])
        raw[row, :len(chosen)] = chosen
        pages[row, :len(chosen)] = page_table[row, chosen // page_size] * page_size + chosen % page_size
    return pages, raw


topkcts_adapter.serve(select, name="numpy-stable-sort", version=numpy.__version__, claims={"level": "canonical"})
