# SPDX-License-Identifier: Apache-2.0
"""Lets topkcts judge a top-k that Python can call.

    import topkcts_adapter

    def select(scores, seq_lens, page_table, page_size, topk):
        ...
        return page_indices, raw_indices            # either may be None when the claims say outputs=raw or page

    topkcts_adapter.serve(select, name="mine", version="1.0", claims={"level": "valid", "tie": "any"})

and then: topkcts run --provider 'process:python3 mine.py'. PYTHONPATH finds this module by itself.

Arguments: scores float32 [batch][max_seq_len], rows apart by any stride; seq_lens int32 [batch]; page_table int32
[batch][pages], rows apart by any stride; page_size and topk are ints. NumPy arrays, or with tensors="torch" tensors on
the device that topkcts was given ("cuda:0"; the CPU for host). They are valid until select returns and must not be
changed. Outputs: int32 or int64 of shape [batch][topk], NumPy or torch, any memory layout and device; anything else
is a failure that says what came.

`unavailable` ends the adapter before it serves: a package is absent or of a version that cannot do it (a skip).
`lacking` says that an installed package does not have the operator it should have (a failure).

What is printed goes to the log of topkcts, never into the protocol. The protocol itself is described in
harness/provider_process.h; this module is one way to speak it.
"""
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


class _Line:
    """The two ends of the line to topkcts."""

    def __init__(self):
        descriptors = os.environ.get("TOPKCTS_PROTOCOL_FDS")
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
                                count=0 if rows == 0 else (rows - 1) * stride + columns)
        return numpy.lib.stride_tricks.as_strided(base, (rows, columns), (stride * 4, 4), writeable=False)


def _as_device(array, device):
    """A torch tensor of the same strides on the device: the padding between rows travels too."""
    import torch
    import numpy
    rows, columns = array.shape
    stride = array.strides[0] // 4
    flat = numpy.lib.stride_tricks.as_strided(array, ((rows - 1) * stride + columns,), (4,), writeable=False)
    whole = torch.from_numpy(flat.copy()).to(device)
    return torch.as_strided(whole, (rows, columns), (stride, 1))


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
    scores = room.array(numpy.float32, order, "scores")
    page_table = room.array(numpy.int32, order, "page_table")
    seq_lens = room.array(numpy.int32, order, "seq_lens")[0]
    if tensors == "torch":
        import torch
        arguments = (_as_device(scores, device), torch.from_numpy(seq_lens.copy()).to(device),
                     _as_device(page_table, device))
    else:
        arguments = (scores, seq_lens, page_table)
    answer = select(*arguments, order["page_size"], order["topk"])
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise ValueError("select returned a %s; the pair (page_indices, raw_indices) was expected"
                         % type(answer).__name__)
    shape = (scores.shape[0], order["topk"])
    for what, output in zip(("page_indices", "raw_indices"), answer):
        if what in order:
            target = numpy.frombuffer(room.bytes(order["bytes"]), dtype=numpy.int32, offset=order[what]["offset"],
                                      count=shape[0] * shape[1]).reshape(shape)
            target[...] = _checked(what, output, shape)


def _cause():
    kind, value, trace = sys.exc_info()
    traceback.print_exc()
    where = traceback.extract_tb(trace)[-1]
    return "%s: %s (%s:%d)" % (kind.__name__, value, os.path.basename(where.filename), where.lineno)


def serve(select, name, version, claims, tensors="numpy", limits=None, versions=None, prepare=None):
    """Serves until topkcts hangs up. claims: member names of topk_claims with enum values in lower case and '-' for
    '_'. limits: {"candidates": 4096}. versions: what is to be recorded, {"torch": "2.11.0"}; Python and NumPy are
    added. prepare(device) is called once when opened; it may call unavailable() or lacking()."""
    line = _Line()
    known = {"python": sys.version.split()[0]}
    try:
        import numpy
        known["numpy"] = numpy.__version__
    except ImportError:
        line.say("unavailable", reason="NumPy is not installed, and this module needs it")
        return
    known.update(versions or {})
    line.say("hello", protocol=PROTOCOL, name=name, version=str(version), claims=claims, limits=limits or {},
             versions=known)
    device, room = "cpu", None
    while True:
        order = line.listen()
        if order is None:
            return
        try:
            if order["do"] == "open":
                device = order["device"] if order["device"].startswith(("cuda", "hip")) else "cpu"
                device = device.replace("hip", "cuda")  # torch calls both so
                room = _Room(order["room"])
                if prepare is not None:
                    prepare(device)
                line.say("opened")
            elif order["do"] == "launch":
                _launch(select, tensors, device, room, order)
                line.say("done")
            else:
                line.say("failed", reason="no order '%s' in protocol %d" % (order["do"], PROTOCOL))
        except Unavailable as reason:
            line.say("unavailable", reason=str(reason))
        except Lacking as reason:
            line.say("failed", reason=str(reason))
        except Exception:  # whatever the kernel raises is an answer
            line.say("failed", reason=_cause())


def require(package, operator=None):
    """Imports a package for an adapter, and a dotted operator from it. Absent: a skip with the reason, before serving.
    Present without the operator: a failure at open."""
    import importlib
    try:
        module = importlib.import_module(package)
    except ImportError as reason:
        _Line().say("unavailable", reason="%s is not installed: %s" % (package, reason))
        sys.exit(0)
    if operator is None:
        return module
    found = module
    for part in operator.split("."):
        found = getattr(found, part, None)
        if found is None:
            return None
    return found
