# SPDX-License-Identifier: Apache-2.0
"""FlashInfer's top_k_page_table_transform, from the flashinfer that is installed: flashinfer_topk.py [MODE]

    default         neither mode
    deterministic   repeatable bytes, any of the equal scores
    tie-break       the lowest index among equal scores, in an order of its own
    both            both; the order is not documented, but by what was measured it is ascending: held to `canonical`

Tie-breaking compares bits: +0.0 is above -0.0, hence zero=bits. NaN has a rank that depends on the route taken. Rows
start at column 0, so no row_starts are given. FLASHINFER_TOPK_ALGO in the environment forces a route, and is recorded.
"""
import inspect
import os
import sys

import topkcts_adapter

torch = topkcts_adapter.require("torch")
flashinfer = topkcts_adapter.require("flashinfer")

SMALL = 1  # flashinfer.TopKTieBreak.SMALL
NOT_WRITTEN = -0x51c0de
MODES = {
    "default": ({}, {"level": "valid", "tie": "any"}),
    "deterministic": ({"deterministic": True}, {"level": "repeatable", "tie": "any"}),
    "tie-break": ({"tie_break": SMALL}, {"level": "set-repeatable", "zero": "bits"}),
    "both": ({"deterministic": True, "tie_break": SMALL}, {"level": "canonical", "zero": "bits"}),
}
mode = sys.argv[1] if len(sys.argv) > 1 else "default"
if mode not in MODES:
    sys.exit("flashinfer_topk.py: no mode '%s'; there are %s" % (mode, ", ".join(MODES)))
options, claims = MODES[mode]
version = topkcts_adapter.version_of("flashinfer-python")
transform = topkcts_adapter.find(flashinfer, "top_k_page_table_transform")
known = set(inspect.signature(transform).parameters) if transform else set()
if transform:
    for option in list(options) + ["out_raw_indices"]:
        if option not in known:
            topkcts_adapter.refuse("flashinfer %s: top_k_page_table_transform knows no %s yet" % (version, option))


def prepare(device):
    topkcts_adapter.need_gpu(device, "cuda")
    if transform is None:
        topkcts_adapter.lacking("flashinfer %s is installed, but has no top_k_page_table_transform" % version)
    topkcts_adapter.note_path(os.environ.get("FLASHINFER_TOPK_ALGO", "its own choice"))


def supports(batch, max_seq_len, page_size, topk):
    if page_size != 1 and "page_size" not in known:
        return "flashinfer %s maps pages of one entry only" % version
    if max_seq_len == 0 and "tie_break" not in options:
        return "flashinfer %s refuses rows without a column in this mode" % version
    return None


def select(scores, seq_lens, page_table, page_size, topk):
    raw = torch.full((scores.shape[0], topk), NOT_WRITTEN, dtype=torch.int32, device=scores.device)
    paging = {"page_size": page_size} if "page_size" in known else {}
    pages = transform(scores, page_table, seq_lens, topk, out_raw_indices=raw, **paging, **options)
    return pages, raw


if __name__ == "__main__":
    topkcts_adapter.serve(
        select, name="flashinfer-" + mode, version=version, tensors="torch", prepare=prepare, supports=supports,
        claims=dict(claims, nan="any", max_topk=2048),
        versions=dict(topkcts_adapter.torch_versions(), flashinfer=version,
                      FLASHINFER_TOPK_ALGO=os.environ.get("FLASHINFER_TOPK_ALGO", "unset")))
