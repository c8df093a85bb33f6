# SPDX-License-Identifier: Apache-2.0
"""SGLang's fused top-k with the page transform of DeepSeek-V4, called as the model calls it.

On ROCm it dispatches to the operator of the kernel package, on CUDA to the JIT kernel v1; both write into outputs that
the caller made. Which of several equal scores wins is not promised, nor is any order.
"""
import topkcts_adapter

torch = topkcts_adapter.require("torch")
sglang = topkcts_adapter.require("sglang")
try:
    from sglang.kernels.ops.attention.dsv4.topk import topk_transform_paged
except ImportError as problem:
    topkcts_adapter.lacking(f"sglang {sglang.__version__} has no topk_transform_paged: {problem}")


def select(scores, seq_lens, page_table, page_size, topk):
    pages = torch.empty((scores.shape[0], topk), dtype=torch.int32, device=scores.device)
    raw = torch.empty_like(pages)
    topk_transform_paged(scores, seq_lens, page_table, pages, page_size, raw)
    return pages, raw


topkcts_adapter.serve(select, name="sglang-topk-paged", version=sglang.__version__, tensors="torch",
                      versions={"sglang": sglang.__version__, "torch": torch.__version__,
                                "hip": str(torch.version.hip), "cuda": str(torch.version.cuda)},
                      claims={"level": "valid", "tie": "any"})
