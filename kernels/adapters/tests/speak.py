# SPDX-License-Identifier: Apache-2.0
"""The protocol by hand, spoken wrongly: speak.py NAME. Shares nothing with topkcts_adapter.py."""
import json
import os
import sys
import time

orders, answers = (int(text) for text in os.environ["TOPKCTS_PROTOCOL_FDS"].split(","))
orders = os.fdopen(orders, "rb")
name = sys.argv[1]


def say(line):
    os.write(answers, line if isinstance(line, bytes) else (json.dumps(line) + "\n").encode())


def hello(**changes):
    say(dict({"say": "hello", "protocol": 1, "name": name, "version": "1", "claims": {"level": "valid"}}, **changes))


FIRST = {
    "no-hello": lambda: say({"say": "opened"}),
    "garbage-first": lambda: say(b"Traceback (most recent call last):\n"),
    "binary-first": lambda: say(b"\xff\x00\xfe\n"),
    "endless-line": lambda: say(b"x" * (3 << 20)),
    "protocol-2": lambda: hello(protocol=2),
    "no-protocol": lambda: hello(protocol=None),
    "no-name": lambda: hello(name=""),
    "no-version": lambda: hello(version=None),
    "long-name": lambda: hello(name="n" * 400),
    "hangs-up": lambda: os.close(answers),
    "silent": lambda: time.sleep(1000),
}
AFTER = {
    "garbage-line": [b"what?\n", {"say": "done"}],
    "no-say": [{"done": True}],
    "wrong-word": [{"say": "opened"}],
    "unknown-word": [{"say": "perhaps"}],
    "twice": [{"say": "done"}, {"say": "done"}],
    "no-reason": [{"say": "failed"}],
    "empty-line": [b"\n"],
    "writes-nothing": [{"say": "done"}],
}

FIRST.get(name, hello)()
while True:
    line = orders.readline()
    if not line:
        break
    if json.loads(line)["do"] == "open":
        say({"say": "opened"})
    elif name == "dies-in-launch":
        sys.exit(5)
    elif name == "half-a-line":
        say(b"{\"say\": ")
        sys.exit(0)
    else:
        for answer in AFTER[name]:
            say(answer)
