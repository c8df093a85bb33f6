# SPDX-License-Identifier: Apache-2.0
"""Compares what the adapters call with what packages define, without importing them: check_packages.py FOLDER..

Each FOLDER is a site-packages or an unpacked wheel (pip download --no-deps PACKAGE; unzip). For every call that an
adapter makes, says whether the package has it and whether its parameters are those that the adapter passes. A package
that is in none of the folders is named and counts as nothing. Exit code 0: all that is there fits; 1: something does
not; 2: no package was found.
"""
import ast
import os
import sys

# (adapter, file in the package, function, parameters that the adapter relies on)
CALLS = [
    ("sglang_topk public", ("sglang/kernels/ops/attention/dsv4/topk.py", "sglang/jit_kernel/dsv4/topk.py",
                            "sglang/jit_kernel/deepseek_v4.py"), ("topk_transform_512", "topk_transform_paged"),
     ["scores", "seq_lens", "page_tables", "out_page_indices", "page_size", "out_raw_indices"]),
    ("sglang_topk v1", ("sglang/kernels/ops/attention/dsv4/topk.py", "sglang/jit_kernel/deepseek_v4.py"),
     ("_jit_topk_v1_module", "_jit_topk_module"), []),
    ("sglang_topk v2", ("sglang/kernels/ops/attention/dsv4/topk.py", "sglang/jit_kernel/deepseek_v4.py"),
     ("topk_transform_512_v2", "topk_transform_paged_v2"),
     ["scores", "seq_lens", "page_tables", "out_page_indices", "page_size", "metadata", "out_raw_indices"]),
    ("sglang_topk v2", ("sglang/kernels/ops/attention/dsv4/topk.py", "sglang/jit_kernel/deepseek_v4.py"),
     ("plan_topk_v2",), ["seq_lens"]),
    ("flashinfer_topk", ("flashinfer/topk.py",), ("top_k_page_table_transform",),
     ["input", "src_page_table", "lengths", "k", "deterministic", "tie_break", "page_size", "out_raw_indices"]),
    ("vllm_topk per-row", ("vllm/_custom_ops.py",), ("top_k_per_row_decode",),
     ["logits", "next_n", "seq_lens", "raw_topk_indices", "num_rows", "stride0", "stride1", "topk_tokens"]),
    ("aiter_topk default", ("aiter/ops/topk.py",), ("top_k_per_row_decode",),
     ["logits", "next_n", "seqLens", "indices", "numRows", "stride0", "stride1"]),
    ("aiter_topk default, any topk", ("aiter/ops/topk.py",), ("top_k_per_row_decode",), ["k"]),
    ("aiter_topk stable", ("aiter/ops/topk.py",), ("top_k_per_row_decode",), ["stable"]),
]
# Lacking these is an older version, which the adapter says as a skip.
OPTIONAL = {"aiter_topk default, any topk", "aiter_topk stable"}
# Operators without a Python function: (adapter, package, text that its sources call them by)
OPERATORS = [
    ("sglang_topk aot", "sglang", "torch.ops.sgl_kernel.deepseek_v4_topk_transform_512("),
    ("vllm_topk persistent", "vllm", "torch.ops._C.persistent_topk("),
    ("vllm_topk cooperative", "vllm", "torch.ops._C.cooperative_topk("),
]


def definition(path, names):
    """The parameters of the first of these functions that a file defines; None: it defines none."""
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name in names:
            arguments = node.args
            return [one.arg for one in arguments.posonlyargs + arguments.args + arguments.kwonlyargs]
    return None


def find_file(folders, paths):
    for folder in folders:
        for path in paths:
            if os.path.exists(os.path.join(folder, path)):
                return os.path.join(folder, path)
    return None


def has_package(folders, name):
    return any(os.path.isdir(os.path.join(folder, name)) for folder in folders)


def calls_it(folders, package, text):
    for folder in folders:
        for here, _, files in os.walk(os.path.join(folder, package)):
            for name in files:
                if name.endswith(".py"):
                    with open(os.path.join(here, name), encoding="utf-8", errors="replace") as file:
                        if text in file.read():
                            return os.path.join(here, name)
    return None


def check_call(folders, adapter, paths, names, parameters):
    """None: the package is not here; else (fits, what is said)."""
    package = paths[0].split("/")[0]
    if not has_package(folders, package):
        return None
    path = find_file(folders, paths)
    known = definition(path, names) if path else None
    if known is None:
        return False, "%s defines none of %s" % (path or package, ", ".join(names))
    missing = [one for one in parameters if one not in known]
    if missing and adapter in OPTIONAL:
        return True, "an older version, without %s: a skip" % ", ".join(missing)
    return not missing, "%s lacks the parameter %s" % (path, ", ".join(missing)) if missing else path


def main():
    folders = sys.argv[1:]
    results = [(call[0], check_call(folders, *call)) for call in CALLS]
    for adapter, package, text in OPERATORS:
        found = calls_it(folders, package, text) if has_package(folders, package) else None
        results.append((adapter, None if not has_package(folders, package)
                        else (found is not None, found or "nothing in %s calls %s" % (package, text))))
    for adapter, result in results:
        print("%-30s %s" % (adapter, "not here" if result is None else ("fits: " if result[0] else "DIFFERS: ") + result[1]))
    seen = [result for _, result in results if result is not None]
    if not seen:
        print("none of the packages is in these folders")
        sys.exit(2)
    sys.exit(0 if all(fits for fits, _ in seen) else 1)


if __name__ == "__main__":
    main()
