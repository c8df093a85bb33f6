# SPDX-License-Identifier: Apache-2.0
"""Stand-ins for the packages that the adapters call: their public names and signatures, as read from the wheels of
sglang 0.5.23, flashinfer-python 0.7.4, vllm 0.33.0 and amd-aiter 0.1.7 (check_packages.py compares them with what is
on PyPI), with a plain CPU selection behind them. They show that an adapter calls what it says with the right arguments
and hands back what came; nothing here says anything about the kernels."""
import sys
import types

import torch


def chosen(scores, seq_lens, topk):
    raw = torch.full((scores.shape[0], topk), -1, dtype=torch.int32)
    for row, length in enumerate(seq_lens.tolist()):
        order = torch.sort(-scores[row, :length], stable=True).indices[:topk]
        raw[row, :len(order)] = torch.sort(order).values.int()
    return raw


def mapped(raw, page_table, page_size):
    page = torch.div(raw, page_size, rounding_mode="floor").clamp(min=0).long()
    slots = torch.gather(page_table, 1, page) * page_size + raw % page_size
    return torch.where(raw < 0, raw, slots.int())


def must(condition, what):
    if not condition:
        raise RuntimeError(what)


def is_plain(tensor, rows, columns):
    return tensor.dtype == torch.int32 and tuple(tensor.shape) == (rows, columns) and tensor.is_contiguous()


def topk_transform(scores, seq_lens, page_tables, out_page_indices, page_size, out_raw_indices=None):
    must(scores.dtype == torch.float32 and scores.stride(1) == 1, "scores")
    must(seq_lens.dtype == torch.int32 and seq_lens.is_contiguous() and seq_lens.dim() == 1, "seq_lens")
    must(is_plain(out_page_indices, scores.shape[0], out_page_indices.shape[1]), "page_indices")
    raw = chosen(scores, seq_lens, out_page_indices.shape[1])
    out_page_indices.copy_(mapped(raw, page_tables, page_size))
    if out_raw_indices is not None:
        out_raw_indices.copy_(raw)


def topk_transform_paged_v2(scores, seq_lens, page_tables, out_page_indices, page_size, metadata, out_raw_indices=None):
    must(scores.stride(0) % 4 == 0 and scores.data_ptr() % 16 == 0, "score_stride must be a multiple of 4")
    must(tuple(metadata.shape) == (scores.shape[0] + 1, 2), "metadata")
    topk_transform(scores, seq_lens, page_tables, out_page_indices, page_size, out_raw_indices)


def plan_topk_v2(seq_lens, static_threshold=-1, *, out=None):
    return seq_lens.new_empty(seq_lens.shape[0] + 1, 2)


def top_k_page_table_transform(input, src_page_table, lengths, k, row_to_batch=None, deterministic=False, tie_break=0,
                               dsa_graph_safe=False, row_starts=None, page_table_row_starts=None, *, page_size=1,
                               out=None, out_raw_indices=None):
    must(out_raw_indices is None or is_plain(out_raw_indices, input.shape[0], k), "out_raw_indices")
    raw = chosen(input, lengths, k)
    out_raw_indices.copy_(raw)
    return mapped(raw, src_page_table, page_size)


def vllm_top_k_per_row_decode(logits, next_n, seq_lens, raw_topk_indices, num_rows, stride0, stride1, topk_tokens):
    must(next_n == 1 and num_rows == logits.shape[0] and (stride0, stride1) == logits.stride(), "rows and strides")
    raw_topk_indices.copy_(chosen(logits, seq_lens, topk_tokens))


def vllm_persistent_topk(logits, lengths, output, workspace, k, max_seq_len):
    must(logits.stride(0) % 4 == 0, "stride")
    must(workspace.dtype == torch.uint8 and workspace.numel() >= 1 << 20, "workspace")
    output.copy_(chosen(logits, lengths, k))


def aiter_old(logits, next_n, seqLens, indices, numRows, stride0, stride1):
    must(indices.shape[1] == 2048, "topk")
    indices.copy_(chosen(logits, seqLens, 2048))


def aiter_new(logits, next_n, seqLens, indices, numRows, stride0, stride1, k=2048, stable=False):
    must(next_n == 1 and (stride0, stride1) == logits.stride(), "rows and strides")
    indices.copy_(chosen(logits, seqLens, k))


def package(name, **members):
    """Puts a module of that name, and its parents, where import finds it."""
    parts = name.split(".")
    for n in range(1, len(parts) + 1):
        dotted = ".".join(parts[:n])
        if dotted not in sys.modules:
            sys.modules[dotted] = types.ModuleType(dotted)
            sys.modules[dotted].__path__ = []
            sys.modules[dotted].__spec__ = types.SimpleNamespace(name=dotted)
            if n > 1:
                setattr(sys.modules[".".join(parts[:n - 1])], parts[n - 1], sys.modules[dotted])
    for key, value in members.items():
        setattr(sys.modules[name], key, value)
    return sys.modules[name]


libraries = {}


def operator(namespace, schema, function):
    """Registers a torch operator, as a package's shared object does when it is imported."""
    if namespace not in libraries:
        libraries[namespace] = torch.library.Library(namespace, "DEF")
    libraries[namespace].define(schema)
    libraries[namespace].impl(schema.split("(")[0], function, "CPU")
