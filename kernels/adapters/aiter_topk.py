# SPDX-License-Identifier: Apache-2.0
"""aiter's top_k_per_row_decode, from the aiter that is installed: aiter_topk.py [MODE]

    default   a valid set, any of the equal scores, in an order of its own
    stable    stable=True: ascending indices, the lowest index among equal scores, which compare by bits

ROCm only. It selects indices only; its callers map pages with a gather, here the adapter does it. Versions without the
argument `k` take topk 2048 alone, those without `stable` have no such mode: skips that say so. aiter compiles the
kernel when it is first called, which counts as the first launch: give --timeout where that takes longer than a launch.
"""
import inspect
import sys

import topkcts_adapter

torch = topkcts_adapter.require("torch")
topkcts_adapter.require("aiter")
module = topkcts_adapter.require("aiter.ops.topk")

NOT_WRITTEN = -0x51c0de
MODES = {
    "default": {"level": "valid", "tie": "any"},
    "stable": {"level": "canonical", "zero": "bits"},
}
mode = sys.argv[1] if len(sys.argv) > 1 else "default"
if mode not in MODES:
    sys.exit("aiter_topk.py: no mode '%s'; there are %s" % (mode, ", ".join(MODES)))
version = topkcts_adapter.version_of("amd-aiter", "aiter")
call = topkcts_adapter.find(module, "top_k_per_row_decode")
known = set(inspect.signature(call).parameters) if call else set()
if call and mode == "stable" and "stable" not in known:
    topkcts_adapter.refuse("aiter %s: top_k_per_row_decode has no stable mode yet" % version)


def prepare(device):
    topkcts_adapter.need_gpu(device, "hip")
    if call is None:
        topkcts_adapter.lacking("aiter %s is installed, but has no top_k_per_row_decode" % version)


def supports(batch, max_seq_len, page_size, topk):
    if "k" not in known and topk != 2048:
        return "aiter %s takes topk 2048 only" % version
    return None


def select(scores, seq_lens, page_table, page_size, topk):
    raw = torch.full((scores.shape[0], topk), NOT_WRITTEN, dtype=torch.int32, device=scores.device)
    options = {"k": topk} if "k" in known else {}
    if mode == "stable":
        options["stable"] = True
    call(scores, 1, seq_lens, raw, scores.shape[0], scores.stride(0), scores.stride(1), **options)
    return topkcts_adapter.map_pages(raw, page_table, page_size), raw


if __name__ == "__main__":
    topkcts_adapter.serve(
        select, name="aiter-" + mode, version=version, tensors="torch", prepare=prepare, supports=supports,
        claims=dict(MODES[mode], nan="any", max_topk=4096),
        versions=dict(topkcts_adapter.torch_versions(), aiter=version))
