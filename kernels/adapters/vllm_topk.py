# SPDX-License-Identifier: Apache-2.0
"""vLLM's decode top-k of the sparse indexer, from the vllm that is installed: vllm_topk.py [OPERATOR]

    per-row       vllm._custom_ops.top_k_per_row_decode, any topk, CUDA and ROCm (the default)
    persistent    torch.ops._C.persistent_topk, topk 512, 1024 and 2048, CUDA
    cooperative   torch.ops._C.cooperative_topk, the same topk, up to 64 rows, CUDA from compute capability 9.0

Called as vllm's sparse indexer calls them, with one token a row (next_n = 1). They select indices only; the indexer
maps pages with a kernel of its own, here the adapter does it. None says which of equal scores it takes, nor in which
order. NaN: rows may come out malformed, so nothing is promised. Limits: candidates beside the cut that fit shared
memory, 2048 in per-row, 4096 in persistent (less in some of its routes, and it rescans in later versions).
"""
import inspect
import sys

import topkcts_adapter

torch = topkcts_adapter.require("torch")
topkcts_adapter.require("vllm")
operators = topkcts_adapter.require("vllm._custom_ops")

WORKSPACE_BYTES = 1024 * 1024  # RADIX_TOPK_WORKSPACE_SIZE of vllm's indexer, which keeps it from call to call
NOT_WRITTEN = -0x51c0de
OPERATORS = {
    "per-row": lambda: topkcts_adapter.find(operators, "top_k_per_row_decode"),
    "persistent": lambda: topkcts_adapter.find(torch.ops, "_C.persistent_topk"),
    "cooperative": lambda: topkcts_adapter.find(torch.ops, "_C.cooperative_topk"),
}
which = sys.argv[1] if len(sys.argv) > 1 else "per-row"
if which not in OPERATORS:
    sys.exit("vllm_topk.py: no operator '%s'; there are %s" % (which, ", ".join(OPERATORS)))
version = topkcts_adapter.version_of("vllm")
call = workspace = None


def prepare(device):
    global call, workspace
    topkcts_adapter.need_gpu(device, None if which == "per-row" else "cuda")
    call = OPERATORS[which]()
    registered = "top_k_per_row_decode" if which == "per-row" else which + "_topk"
    if call is None or topkcts_adapter.find(torch.ops, "_C." + registered) is None:
        topkcts_adapter.lacking("vllm %s is installed, but has no operator _C.%s" % (version, registered))
    if which == "per-row" and "topk_tokens" not in inspect.signature(call).parameters:
        topkcts_adapter.unavailable("vllm %s: top_k_per_row_decode takes no topk yet" % version)
    workspace = torch.zeros(WORKSPACE_BYTES, dtype=torch.uint8, device=device)


def supports(batch, max_seq_len, page_size, topk):
    if which != "per-row" and topk not in (512, 1024, 2048):
        return "%s takes topk 512, 1024 and 2048 only" % which
    if which == "cooperative" and batch > 64:
        return "cooperative takes at most 64 rows"
    return None


def as_vectors(scores):
    """The same rows with a stride that is a multiple of 4, 16-byte aligned, as vllm allocates its logits."""
    rows, columns = scores.shape
    if scores.stride(0) % 4 == 0 and scores.data_ptr() % 16 == 0:
        return scores
    store = torch.full((rows, (columns + 3) // 4 * 4), float("inf"), dtype=scores.dtype, device=scores.device)
    store[:, :columns] = scores
    return store[:, :columns]


def select(scores, seq_lens, page_table, page_size, topk):
    raw = torch.full((scores.shape[0], topk), NOT_WRITTEN, dtype=torch.int32, device=scores.device)
    if which == "per-row":
        call(scores, 1, seq_lens, raw, scores.shape[0], scores.stride(0), scores.stride(1), topk)
    else:
        # The last argument bounds the lengths on the host side; it is not the width of the rows.
        call(as_vectors(scores), seq_lens, raw, workspace, topk, scores.shape[1])
    return topkcts_adapter.map_pages(raw, page_table, page_size), raw


if __name__ == "__main__":
    topkcts_adapter.serve(
        select, name="vllm-" + which, version=version, tensors="torch", prepare=prepare, supports=supports,
        claims={"level": "valid", "tie": "any", "max_topk": 4096 if which == "per-row" else 2048},
        limits={"candidates": 2048 if which == "per-row" else 4096},
        versions=dict(topkcts_adapter.torch_versions(), vllm=version))
