# SPDX-License-Identifier: Apache-2.0
"""One adapter for each way in which an adapter can be right or wrong: behave.py NAME [argument].

What each must come to is written in verdicts.sh. The selection itself is a right one (NumPy's stable sort), so that
only the named behaviour decides.
"""
import ctypes
import os
import signal
import sys
import time

import numpy

import topkcts_adapter

launches = 0


def right(scores, seq_lens, page_table, page_size, topk):
    raw = numpy.full((scores.shape[0], topk), -1, numpy.int32)
    for row, length in enumerate(seq_lens):
        chosen = numpy.sort(numpy.argsort(-scores[row, :length], kind="stable")[:topk])
        raw[row, :len(chosen)] = chosen
    return topkcts_adapter.map_pages(raw, page_table, page_size).astype(numpy.int32), raw


def each(change):
    """The right answer, with both outputs changed."""
    def select(*arguments):
        pages, raw = right(*arguments)
        return change(pages), change(raw)
    return select


def before(act):
    """The right answer, after an act."""
    def select(*arguments):
        act(*arguments)
        return right(*arguments)
    return select


def raises(*_):
    raise RuntimeError("the kernel says no")


def in_third_launch(act):
    def select(*arguments):
        global launches
        launches += 1
        if launches == 3:
            act()
        return right(*arguments)
    return select


def chatter(*_):
    print("{\"say\": \"done\"}\nall sorts of things", flush=True)
    os.write(1, b"even past Python\n")
    os.write(2, b"\xff\xfe\n")


def poke(scores, *_):
    """Writes where NumPy would not let it."""
    ctypes.memset(scores.ctypes.data, 0x3f, 4)


def answers_answers():
    """Finds its own line, and says something unasked."""
    for fd in range(3, 20):
        try:
            os.write(fd, b"hello there\n")
        except OSError:
            pass


SELECTS = {
    "right": right,
    "int64": each(lambda output: output.astype(numpy.int64)),
    "transposed": each(lambda output: numpy.asfortranarray(output)),
    "strided": each(lambda output: numpy.repeat(output, 2, axis=1)[:, ::2]),
    "reversed-view": each(lambda output: output[:, ::-1].copy()[:, ::-1]),
    "chatter": before(chatter),
    "float": each(lambda output: output.astype(numpy.float32)),
    "int16": each(lambda output: output.astype(numpy.int16)),
    "bool": each(lambda output: output > 0),
    "big-endian": each(lambda output: output.astype(">i4")),
    "too-large": each(lambda output: output.astype(numpy.int64) + 2**40),
    "narrow": each(lambda output: output[:, :-1]),
    "one-row-more": each(lambda output: numpy.vstack([output, output[:1]])),
    "flat": each(lambda output: output.ravel()),
    "turned": each(lambda output: output.T),
    "list": each(lambda output: output.tolist()),
    "missing": lambda *arguments: (None, None),
    "no-pair": lambda *arguments: right(*arguments)[0],
    "nothing": lambda *arguments: None,
    "raises": raises,
    "leaves": before(lambda *_: sys.exit(0)),
    "leaves-at-once": before(lambda *_: os._exit(3)),
    "segfault": before(lambda *_: ctypes.string_at(0)),
    "aborts": before(lambda *_: os.abort()),
    "killed": before(lambda *_: os.kill(os.getpid(), signal.SIGKILL)),
    "third-launch": in_third_launch(lambda: os.abort()),
    "hangs": before(lambda *_: time.sleep(1000)),
    "writes-input": before(lambda scores, *_: scores.__setitem__((0, 0), 1.0)),
    "pokes-input": before(poke),
    "unasked": before(lambda *_: answers_answers()),
    "sleeps-a-little": before(lambda *_: time.sleep(0.02)),
    "wrong": each(lambda output: output[:, ::-1].copy()),
    "one-wrong": each(lambda output: output + (numpy.arange(output.shape[1]) == 7)),
}


def prepare_of(name):
    return {
        "open-raises": raises,
        "open-lacks": lambda device: topkcts_adapter.lacking("package 1.0 is installed, but has no operator topk"),
        "open-unavailable": lambda device: topkcts_adapter.unavailable("no GPU of this kind"),
        "open-hangs": lambda device: time.sleep(1000),
        "open-leaves": lambda device: os._exit(0),
    }.get(name)


def main():
    name = sys.argv[1]
    claims, limits, supports = {"level": "canonical"}, {}, None
    if name == "absent":
        topkcts_adapter.require("a_package_that_nobody_has", "nor_this_one")
    if name == "sleeps-before-hello":
        time.sleep(1000)
    if name == "leaves-before-hello":
        sys.exit("this machine is not to its liking")
    if name.startswith("claims-"):
        claims = {"claims-nothing": {}, "claims-none": {"level": "none"}, "claims-nonsense": {"level": "perfect"},
                  "claims-unknown": {"level": "valid", "speed": "high"},
                  "claims-list": ["level"], "claims-fifo": {"level": "valid", "max_topk": -1}}[name]
    if name == "limit-text":
        limits = {"candidates": "many"}
    if name == "reserved":
        name = "v1"
    if name == "some-supported":
        supports = lambda batch, length, page_size, topk: None if topk == 512 else "topk must be 512"
    if name == "supports-raises":
        supports = raises
    topkcts_adapter.serve(SELECTS.get(name, right), name=name, version="1", claims=claims, limits=limits,
                          versions={"package": "1.2.3"}, prepare=prepare_of(name), supports=supports)


main()
