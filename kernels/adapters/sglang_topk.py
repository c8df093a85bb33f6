# SPDX-License-Identifier: Apache-2.0
"""SGLang's top-k of the DeepSeek-V4 indexer, from the sglang that is installed: sglang_topk.py [PATH]

    public     what the indexer calls: topk_transform_512, called topk_transform_paged in later versions, with its own
               dispatch between the operator of sgl_kernel (AOT, on ROCm) and the JIT kernel v1 (the default)
    fallback   the same call where sgl_kernel lacks the operator: the dispatch must find the JIT kernel by itself
    aot        the operator of sgl_kernel alone
    v1         the JIT kernel v1 alone
    v2         plan_topk_v2 and topk_transform_512_v2 (later topk_transform_paged_v2)

Promises: none of them says which of equal scores it takes, nor in which order; which of equal scores depends on arrival,
so the set may change from launch to launch. NaN: v1 and the operator rank it somewhere, v2 loses it. Signed zeros:
ranked by bits or by value, by path; as nothing is said of equal scores, either is a right answer.
Limits: candidates of a coarse bin that fit the list in shared memory: 8192 in v1, 2048 in v2, 6144 in the operator.

v2 reads rows as vectors of 16 bytes: its callers allocate rows 16-byte aligned with a stride that is a multiple of 4,
and where a case's rows are not so, they are laid anew here.
"""
import sys

import topkcts_adapter

torch = topkcts_adapter.require("torch")

PATHS = ("public", "fallback", "aot", "v1", "v2")
MODULES = ("sglang.kernels.ops.attention.dsv4.topk", "sglang.jit_kernel.dsv4.topk", "sglang.jit_kernel.deepseek_v4")
OPERATOR = "deepseek_v4_topk_transform_512"
NOT_WRITTEN = -0x51c0de

path = sys.argv[1] if len(sys.argv) > 1 else "public"
if path not in PATHS:
    sys.exit("sglang_topk.py: no path '%s'; there are %s" % (path, ", ".join(PATHS)))
topkcts_adapter.require("sglang")
module = topkcts_adapter.require(*MODULES)
version = topkcts_adapter.version_of("sglang")
kernel_version = topkcts_adapter.version_of("sglang-kernel", "sgl-kernel")
try:
    import sgl_kernel  # noqa: F401  registers torch.ops.sgl_kernel
except Exception as reason:  # without it the operator is absent, which is a case of its own
    print("sgl_kernel cannot be loaded: %s" % reason)


class WithoutOperator:
    """torch.ops.sgl_kernel as it is in a wheel that was built without the operator."""

    def __init__(self, operators):
        self.operators = operators

    def __getattr__(self, name):
        if name == OPERATOR:
            raise AttributeError("'_OpNamespace' 'sgl_kernel' object has no attribute '%s'" % name)
        return getattr(self.operators, name)


def first(*names):
    for name in names:
        found = topkcts_adapter.find(module, name)
        if found is not None:
            return found
    return None


def operator():
    return topkcts_adapter.find(torch.ops, "sgl_kernel." + OPERATOR)


def v1_module():
    load = first("_jit_topk_v1_module", "_jit_topk_module")
    return None if load is None else load().topk_transform


CALLS = {
    "public": lambda: first("topk_transform_512", "topk_transform_paged"),
    "fallback": lambda: first("topk_transform_512", "topk_transform_paged"),
    "aot": operator,
    "v1": v1_module,
    "v2": lambda: first("topk_transform_512_v2", "topk_transform_paged_v2"),
}
call = plan = None


def prepare(device):
    global call, plan
    topkcts_adapter.need_gpu(device, "hip" if path == "aot" else None)
    call = CALLS[path]()
    plan = first("plan_topk_v2")
    if call is None or (path == "v2" and plan is None):
        topkcts_adapter.lacking("sglang %s with sgl_kernel %s is installed, but %s lacks what path '%s' calls"
                                % (version, kernel_version, "torch.ops.sgl_kernel" if path == "aot" else module.__name__,
                                   path))
    if path == "fallback":
        torch.ops.sgl_kernel = WithoutOperator(torch.ops.sgl_kernel)
    if path == "public":
        topkcts_adapter.note_path("aot" if torch.version.hip and operator() is not None else "jit v1")
    else:
        topkcts_adapter.note_path({"fallback": "jit v1", "aot": "aot", "v1": "jit v1", "v2": "jit v2"}[path])


def as_vectors(scores):
    """The same rows, 16-byte aligned, with a stride that is a multiple of 4."""
    rows, columns = scores.shape
    if scores.stride(0) % 4 == 0 and scores.data_ptr() % 16 == 0:
        return scores
    store = torch.full((rows, (columns + 3) // 4 * 4), float("inf"), dtype=scores.dtype, device=scores.device)
    store[:, :columns] = scores
    return store[:, :columns]


def select(scores, seq_lens, page_table, page_size, topk):
    pages = torch.full((scores.shape[0], topk), NOT_WRITTEN, dtype=torch.int32, device=scores.device)
    raw = torch.full_like(pages, NOT_WRITTEN)
    if path == "v2":
        call(as_vectors(scores), seq_lens, page_table, pages, page_size, plan(seq_lens), raw)
    else:
        call(scores, seq_lens, page_table, pages, page_size, raw)
    return pages, raw


def supports(batch, max_seq_len, page_size, topk):
    if path in ("public", "fallback") and first("_jit_topk1024_module") and topk not in (512, 1024):
        return "this sglang builds v1 for topk 512 and 1024 only"
    return None


if __name__ == "__main__":
    topkcts_adapter.serve(
        select, name="sglang-" + path, version=version, tensors="torch", prepare=prepare, supports=supports,
        claims={"level": "valid", "tie": "any", "nan": "none" if path == "v2" else "any",
                "max_topk": 2048 if path == "v2" else 1024},
        limits={"candidates": {"v2": 2048, "aot": 6144}.get(path, 8192)},
        versions=dict(topkcts_adapter.torch_versions(), sglang=version, sgl_kernel=kernel_version))
