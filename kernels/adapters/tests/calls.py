# SPDX-License-Identifier: Apache-2.0
"""How the adapters call their packages: calls.py, on CPU tensors and the stand-ins of standin.py. Each check runs in a
process of its own, because an adapter reads its arguments and its package when it is imported."""
import importlib
import os
import sys
import traceback

TOPK = 512


def load(adapter, *arguments):
    sys.argv = [adapter + ".py", *arguments]
    return importlib.import_module(adapter)


def compare(module, topk=TOPK, device="cuda:0"):
    """Opens, selects on an odd stride and base, and compares with the right answer."""
    import standin
    import torch
    import topkcts_adapter
    topkcts_adapter.need_gpu = lambda device, backend=None: None
    zeros = torch.zeros
    torch.zeros = lambda *a, device=None, **k: zeros(*a, **k)  # a workspace on a device that is not here
    module.prepare(device)
    store = torch.randn(3 * 5003 + 1)
    scores = torch.as_strided(store, (3, 5000), (5003, 1), 1)
    seq_lens = torch.tensor([5000, 7, 0], dtype=torch.int32)
    table = torch.stack([torch.randperm(100)[:79].int() for _ in range(3)])
    before = store.clone()
    pages, raw = module.select(scores, seq_lens, table, 64, topk)
    wanted = standin.chosen(scores, seq_lens, topk)
    assert torch.equal(raw.int(), wanted), "raw indices"
    assert torch.equal(pages.int(), standin.mapped(wanted, table, 64)), "page indices"
    assert torch.equal(store, before), "an input was changed"


def lacks(module, text):
    import topkcts_adapter
    topkcts_adapter.need_gpu = lambda device, backend=None: None
    try:
        module.prepare("cuda:0")
    except topkcts_adapter.Lacking as reason:
        assert text in str(reason), str(reason)
        return
    raise AssertionError("an installed package without the operator passed")


def sglang(**members):
    import standin
    standin.package("sglang")
    return standin.package("sglang.kernels.ops.attention.dsv4.topk", **members)


def sglang_operator():
    import standin
    standin.operator("sgl_kernel", "deepseek_v4_topk_transform_512(Tensor scores, Tensor seq_lens, Tensor page_table, "
                     "Tensor(a!) page_indices, int page_size, Tensor(b!)? raw_indices) -> ()", standin.topk_transform)


def check_sglang_public():
    import standin
    sglang(topk_transform_paged=standin.topk_transform)
    compare(load("sglang_topk"))


def check_sglang_old_name():
    import standin
    standin.package("sglang")
    standin.package("sglang.jit_kernel.deepseek_v4", topk_transform_512=standin.topk_transform)
    compare(load("sglang_topk", "public"))


def check_sglang_v1():
    import types
    import standin
    sglang(_jit_topk_v1_module=lambda: types.SimpleNamespace(topk_transform=standin.topk_transform))
    compare(load("sglang_topk", "v1"))


def check_sglang_v2():
    import standin
    sglang(topk_transform_paged_v2=standin.topk_transform_paged_v2, plan_topk_v2=standin.plan_topk_v2)
    compare(load("sglang_topk", "v2"))


def check_sglang_aot():
    import standin
    sglang(topk_transform_paged=standin.topk_transform)
    sglang_operator()
    compare(load("sglang_topk", "aot"))


def check_sglang_fallback_found():
    """A dispatch that asks first, and falls back."""
    import torch
    import standin

    def dispatch(*arguments):
        if hasattr(torch.ops.sgl_kernel, "deepseek_v4_topk_transform_512"):
            raise AssertionError("the operator is still there")
        standin.topk_transform(*arguments)
    sglang(topk_transform_paged=dispatch)
    sglang_operator()
    compare(load("sglang_topk", "fallback"))


def check_sglang_fallback_missing():
    """A dispatch that takes the operator for granted: the first fault of the AMD path."""
    import torch
    sglang(topk_transform_paged=lambda *a: torch.ops.sgl_kernel.deepseek_v4_topk_transform_512(*a))
    sglang_operator()
    try:
        compare(load("sglang_topk", "fallback"))
    except AttributeError as reason:
        assert "deepseek_v4_topk_transform_512" in str(reason)
        return
    raise AssertionError("the operator was not hidden")


def check_sglang_lacks():
    sglang()
    lacks(load("sglang_topk", "public"), "is installed, but")


def check_sglang_lacks_operator():
    sglang()
    lacks(load("sglang_topk", "aot"), "torch.ops.sgl_kernel lacks")


def check_flashinfer_modes():
    import standin
    seen = []

    def spy(*arguments, **options):
        seen.append((options["deterministic"] if "deterministic" in options else False, options.get("tie_break", 0)))
        return standin.top_k_page_table_transform(*arguments, **options)
    spy.__signature__ = __import__("inspect").signature(standin.top_k_page_table_transform)
    standin.package("flashinfer", top_k_page_table_transform=spy)
    for mode, wanted in (("default", (False, 0)), ("deterministic", (True, 0)), ("tie-break", (False, 1)), ("both", (True, 1))):
        sys.modules.pop("flashinfer_topk", None)
        compare(load("flashinfer_topk", mode))
        assert seen[-1] == wanted, (mode, seen[-1])


def check_flashinfer_lacks():
    import standin
    standin.package("flashinfer")
    lacks(load("flashinfer_topk"), "has no top_k_page_table_transform")


def vllm_operators():
    import standin
    standin.package("vllm")
    standin.package("vllm._custom_ops", top_k_per_row_decode=standin.vllm_top_k_per_row_decode)
    for name in ("persistent_topk", "cooperative_topk"):
        standin.operator("_C", name + "(Tensor logits, Tensor lengths, Tensor(a!) output, Tensor(b!) workspace, int k, "
                         "int max_seq_len) -> ()", standin.vllm_persistent_topk)
    standin.operator("_C", "top_k_per_row_decode(Tensor logits, int next_n, Tensor seq_lens, Tensor(a!) indices, int rows, "
                     "int stride0, int stride1, int topk) -> ()", standin.vllm_top_k_per_row_decode)


def check_vllm_per_row():
    vllm_operators()
    compare(load("vllm_topk"), topk=777)


def check_vllm_persistent():
    vllm_operators()
    module = load("vllm_topk", "persistent")
    compare(module)
    assert module.supports(1, 4096, 64, 777) and not module.supports(1, 4096, 64, 1024)


def check_vllm_lacks():
    import standin
    standin.package("vllm")
    standin.package("vllm._custom_ops", top_k_per_row_decode=standin.vllm_top_k_per_row_decode)
    lacks(load("vllm_topk", "persistent"), "has no operator _C.persistent_topk")


def check_vllm_lacks_per_row():
    """The Python wrapper is there, the operator behind it is not registered."""
    import standin
    standin.package("vllm")
    standin.package("vllm._custom_ops", top_k_per_row_decode=standin.vllm_top_k_per_row_decode)
    lacks(load("vllm_topk", "per-row"), "has no operator _C.top_k_per_row_decode")


def check_aiter():
    import standin
    standin.package("aiter")
    standin.package("aiter.ops.topk", top_k_per_row_decode=standin.aiter_new)
    for mode in ("default", "stable"):
        sys.modules.pop("aiter_topk", None)
        compare(load("aiter_topk", mode))


def check_aiter_old():
    import standin
    standin.package("aiter")
    standin.package("aiter.ops.topk", top_k_per_row_decode=standin.aiter_old)
    module = load("aiter_topk")
    assert module.supports(1, 4096, 64, 512) and not module.supports(1, 4096, 64, 2048)
    compare(module, topk=2048)


def check_aiter_lacks():
    import standin
    standin.package("aiter")
    standin.package("aiter.ops.topk")
    lacks(load("aiter_topk"), "has no top_k_per_row_decode")


def check_map_pages_numpy():
    import numpy
    import torch
    import standin
    import topkcts_adapter
    raw = numpy.array([[5, 64, -1], [199, 0, 3]], numpy.int32)
    table = numpy.arange(8, dtype=numpy.int32).reshape(2, 4) * 3
    wanted = standin.mapped(torch.from_numpy(raw), torch.from_numpy(table), 64).numpy()
    assert (topkcts_adapter.map_pages(raw, table, 64) == wanted).all()
    wild = topkcts_adapter.map_pages(numpy.array([[999999, -5]], numpy.int32), table[:1], 64)
    assert wild.tolist() == [[999999, -5]], "what is out of range is for the judge to see"


def in_a_child(name):
    """Whether the check holds. torch is imported once, before the children are made."""
    child = os.fork()
    if child == 0:
        try:
            globals()[name]()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0


def main():
    import torch  # noqa: F401
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:0] = [here, os.path.dirname(here)]
    checks = sys.argv[1:] or [name for name in globals() if name.startswith("check_")]
    failed = [name for name in checks if not in_a_child(name)]
    print("%d calls checked%s" % (len(checks), "".join("\nFAILED: " + name for name in failed)))
    sys.exit(bool(failed) or not checks)


main()
