# SPDX-License-Identifier: Apache-2.0
"""Lets topkcts judge a top-k that Python can call.

    import topkcts_adapter

    def select(scores, seq_lens, page_table, page_size, topk):
        ...
        return page_indices, raw_indices            # either may be None when the claims say outputs=raw or page

    topkcts_adapter.serve(select, name="mine", version="1.0", claims={"level": "valid", "tie": "any"})

and then: topkcts run --provider 'process:python3 mine.py'. PYTHONPATH finds this module by itself.

Arguments: scores float32 [batch][max_seq_len], rows apart by any stride and based at any multiple of 4 bytes; seq_lens
int32 [batch]; page_table int32 [batch][pages], rows apart by any stride; page_size and topk are ints. NumPy arrays, or
with tensors="torch" tensors on the device that topkcts was given ("cuda:0"; the CPU for host). They are valid until
select returns and must not be changed. Outputs: int32 or int64 of shape [batch][topk], NumPy or torch, any memory
layout and device; anything else is a failure that says what came.

An adapter to an installed package begins with `require`, which ends it as a skip when the package is absent, and calls
`lacking` in `prepare` when the package is there but its operator is not, which is a failure. See README.md.

What is printed goes to the log of topkcts, never into the protocol. The protocol itself is described in
harness/provider_process.h; this module is one way to speak it. It knows nothing of any kernel.
"""
import importlib
import importlib.metadata
import importlib.util
import json
import mmap
import os
import sys
import traceback

PROTOCOL = 1


class Unavailable(Exception):
    """The package is not here, or not in a version that can do this: skipped, not failed."""


class Lacking(Exception):
    """The package is here, but the operator is not: a failure."""


def unavailable(reason):
    raise Unavailable(reason)


def lacking(reason):
    raise Lacking(reason)


_path = None


def note_path(path):
    """Says which inner path serves the launches from now on; it is stored with each result."""
    global _path
    _path = path


class _Line:
    """The two ends of the line to topkcts."""

    def __init__(self):
        descriptors = os.environ.pop("TOPKCTS_PROTOCOL_FDS", None)
        if not descriptors:
            sys.exit("this is a topkcts adapter; run it by: topkcts run --provider 'process:python3 %s'" % sys.argv[0])
        orders, answers = (int(text) for text in descriptors.split(","))
        os.set_inheritable(orders, False)
        os.set_inheritable(answers, False)
        self.orders = os.fdopen(orders, "rb")
        self.answers = os.fdopen(answers, "wb", buffering=0)

    def say(self, kind, **fields):
        self.answers.write((json.dumps(dict(fields, say=kind)) + "\n").encode())

    def listen(self):
        line = self.orders.readline()
        return json.loads(line) if line else None


class _Room:
    """The file that inputs and outputs lie in, mapped; mapped again when topkcts lets it grow."""

    def __init__(self, path):
        self.path = path
        self.map = None

    def bytes(self, size):
        if self.map is None or len(self.map) < size:
            with open(self.path, "r+b") as file:
                self.map = mmap.mmap(file.fileno(), 0)
        return self.map

    def array(self, kind, order, name):
        import numpy
        place = order[name]
        rows, columns, stride = place["shape"][0], place["shape"][-1], place["stride"]
        base = numpy.frombuffer(self.bytes(order["bytes"]), dtype=kind, offset=place["offset"],
                                count=(rows - 1) * stride + columns)
        return numpy.lib.stride_tricks.as_strided(base, (rows, columns), (stride * 4, 4), writeable=False)


class _Lent:
    """An input as a torch tensor on the device: same strides, same alignment of its base up to 256 bytes, and the
    columns between the rows travel too. Knows whether it was changed."""

    def __init__(self, array, misalignment, device):
        import numpy
        import torch
        rows, columns = array.shape
        stride = array.strides[0] // 4
        flat = numpy.lib.stride_tricks.as_strided(array, ((rows - 1) * stride + columns,), (4,), writeable=False)
        shift = misalignment // 4
        store = torch.empty(shift + len(flat), dtype=torch.from_numpy(flat[:0].copy()).dtype, device=device)
        self.whole = store[shift:]
        self.whole.copy_(torch.from_numpy(flat.copy()))
        self.before = self.whole.clone()
        self.tensor = torch.as_strided(self.whole, (rows, columns), (stride, 1), self.whole.storage_offset())

    def is_changed(self):
        import torch
        return not torch.equal(self.whole.view(torch.int32), self.before.view(torch.int32))


def _checked(what, output, shape):
    import numpy
    if output is None:
        raise ValueError("%s is missing: select returned None for it" % what)
    if hasattr(output, "detach"):
        output = output.detach().cpu().numpy()
    if not isinstance(output, numpy.ndarray):
        raise ValueError("%s is a %s; a NumPy array or a torch tensor was expected" % (what, type(output).__name__))
    if output.dtype not in (numpy.dtype("int32"), numpy.dtype("int64")):
        raise ValueError("%s has dtype %s; int32 or int64 was expected" % (what, output.dtype))
    if output.shape != shape:
        raise ValueError("%s has shape %s; %s was expected" % (what, list(output.shape), list(shape)))
    if output.dtype == numpy.dtype("int64") and output.size and (output.min() < -2**31 or output.max() >= 2**31):
        raise ValueError("%s holds %d, which is no int32" % (what, output.max() if output.max() >= 2**31 else output.min()))
    return output.astype(numpy.int32)


def _launch(select, tensors, device, room, order):
    import numpy
    arrays = [room.array(kind, order, what) for kind, what in
              ((numpy.float32, "scores"), (numpy.int32, "seq_lens"), (numpy.int32, "page_table"))]
    shape = (arrays[0].shape[0], order["topk"])
    lent = []
    if tensors == "torch":
        lent = [_Lent(array, order[what]["offset"] % 256, device)
                for array, what in zip(arrays, ("scores", "seq_lens", "page_table"))]
        arrays = [one.tensor for one in lent]
    answer = select(arrays[0], arrays[1][0], arrays[2], order["page_size"], order["topk"])
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise ValueError("select returned a %s; the pair (page_indices, raw_indices) was expected"
                         % type(answer).__name__)
    for what, output in zip(("page_indices", "raw_indices"), answer):
        if what in order:
            target = numpy.frombuffer(room.bytes(order["bytes"]), dtype=numpy.int32, offset=order[what]["offset"],
                                      count=shape[0] * shape[1]).reshape(shape)
            target[...] = _checked(what, output, shape)
    for one, what in zip(lent, ("scores", "seq_lens", "page_table")):
        if one.is_changed():
            raise ValueError("it changed its input %s" % what)


def _cause():
    kind, value, trace = sys.exc_info()
    traceback.print_exc()
    where = traceback.extract_tb(trace)[-1]
    return "%s: %s (%s:%d)" % (kind.__name__, value, os.path.basename(where.filename), where.lineno)


class _Server:
    """The answers to orders."""

    def __init__(self, select, tensors, prepare, supports):
        self.select, self.tensors, self.prepare, self.supports = select, tensors, prepare, supports
        self.device, self.room = "cpu", None

    def open(self, order):
        self.device = order["device"] if order["device"].startswith(("cuda", "hip")) else "cpu"
        self.device = self.device.replace("hip", "cuda")  # torch calls both so
        self.room = _Room(order["room"])
        if self.prepare is not None:
            self.prepare(self.device)
        return {"say": "opened"}

    def obey(self, order):
        if order["do"] == "open":
            return self.open(order)
        if order["do"] == "supports":
            batch, length = order["scores"]["shape"]
            why = self.supports(batch, length, order["page_size"], order["topk"])
            return {"say": "no", "reason": why} if why else {"say": "yes"}
        if order["do"] == "launch":
            _launch(self.select, self.tensors, self.device, self.room, order)
            return {"say": "done", "path": _path} if _path else {"say": "done"}
        return {"say": "failed", "reason": "no order '%s' in protocol %d" % (order["do"], PROTOCOL)}


def serve(select, name, version, claims, tensors="numpy", limits=None, versions=None, prepare=None, supports=None):
    """Serves until topkcts hangs up. claims: member names of topk_claims with enum values in lower case and '-' for
    '_'. limits: {"candidates": 4096}. versions: what is to be recorded, {"torch": "2.11.0"}; Python and NumPy are
    added. prepare(device) is called once when opened; it may call unavailable() or lacking(). supports(batch,
    max_seq_len, page_size, topk) says why a launch is beyond the kernel (a skip with that reason), or None."""
    line = _Line()
    known = {"python": sys.version.split()[0]}
    for package in ["numpy"] + (["torch"] if tensors == "torch" else []):
        try:
            known[package] = importlib.import_module(package).__version__
        except ImportError as reason:
            line.say("unavailable", reason="%s is needed to hand over the tensors: %s" % (package, reason))
            return
    known.update(versions or {})
    line.say("hello", protocol=PROTOCOL, name=name, version=str(version), claims=claims, limits=limits or {},
             versions={key: str(value) for key, value in known.items()}, supports=supports is not None)
    server = _Server(select, tensors, prepare, supports)
    while True:
        order = line.listen()
        if order is None:
            return
        try:
            line.say(**_as_fields(server.obey(order)))
        except Unavailable as reason:
            line.say("unavailable", reason=str(reason))
        except Lacking as reason:
            line.say("failed", reason=str(reason))
        except Exception:  # whatever the kernel raises is an answer
            line.say("failed", reason=_cause())


def _as_fields(answer):
    fields = dict(answer)
    return {"kind": fields.pop("say"), **fields}


# ---- for adapters to installed packages ------------------------------------------------------------------------------

def refuse(reason):
    """Ends the adapter before it serves: it cannot run here. A skip with the reason."""
    _Line().say("unavailable", reason=reason)
    sys.exit(0)


def require(package, *alternatives):
    """Imports the first of these modules that is installed. A package that is absent, or that cannot be loaded on this
    machine, is a skip."""
    reasons = []
    for name in (package,) + alternatives:
        try:
            if importlib.util.find_spec(name) is None:
                reasons.append("%s is not installed" % name)
                continue
            return importlib.import_module(name)
        except ModuleNotFoundError as reason:
            missing = reason.name or ""
            absent = missing and (name == missing or name.startswith(missing + "."))
            reasons.append("%s is not installed" % name if absent else "%s needs %s" % (name, missing or reason))
        except Exception as reason:  # an import runs anything: a missing libcuda, a version check
            traceback.print_exc()
            reasons.append("%s cannot be loaded here: %s: %s" % (name, type(reason).__name__, reason))
    return refuse("; ".join(reasons))


def find(root, dotted):
    """The object behind a dotted name, or None: `torch.ops` raises for what it does not have."""
    for part in dotted.split("."):
        try:
            root = getattr(root, part)
        except (AttributeError, RuntimeError):
            return None
    return root


def version_of(*distributions):
    """The version of the first of these distributions that is installed."""
    for name in distributions:
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return "unknown"


def need_gpu(device, backend=None):
    """For prepare: a skip unless torch can use the device. backend: "cuda" or "hip" when only one will do."""
    import torch
    if device == "cpu":
        unavailable("this kernel needs a GPU: give --device cuda:0 or hip:0")
    if not torch.cuda.is_available():
        unavailable("torch %s sees no GPU" % torch.__version__)
    here = "hip" if torch.version.hip else "cuda"
    if backend is not None and here != backend:
        unavailable("this kernel is for %s, and torch %s is built for %s" % (backend, torch.__version__, here))


def torch_versions():
    """What a torch adapter reports besides its own package."""
    import torch
    return {"torch": torch.__version__, "cuda": str(torch.version.cuda), "hip": str(torch.version.hip)}


def map_pages(raw_indices, page_table, page_size):
    """page_indices of raw_indices, for kernels that leave the mapping to their caller: -1 stays -1. On NumPy arrays
    or torch tensors. An index out of range is left unmapped, for the judge to see."""
    if hasattr(raw_indices, "detach"):
        import torch
        page = torch.div(raw_indices, page_size, rounding_mode="floor").long()
        known = (raw_indices >= 0) & (page < page_table.shape[1])
        if page_table.shape[1] == 0:
            return raw_indices.clone()
        physical = torch.gather(page_table.long(), 1, torch.where(known, page, torch.zeros_like(page)))
        return torch.where(known, physical * page_size + raw_indices % page_size, raw_indices.long())
    import numpy
    page = raw_indices // page_size
    known = (raw_indices >= 0) & (page < page_table.shape[1])
    if page_table.shape[1] == 0:
        return raw_indices.copy()
    physical = numpy.take_along_axis(page_table, numpy.where(known, page, 0), axis=1)
    return numpy.where(known, physical * page_size + raw_indices % page_size, raw_indices)
