#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ten million results: how long the questions take, and what a result costs on disk.

    scale_test.py [DATABASE]          makes DATABASE (default: a temporary one, 1.3 GB) unless it is there

Not part of `make test`: it takes minutes. Fails when regressions or history take more than 2 s, the second time they
are asked (the first reads the disk), or do not find what was planted.
"""
import json
import os
import pathlib
import sqlite3
import sys
import tempfile
import time

import history_test
import make_history

LIMIT_SECONDS = {"regressions": 2.0, "history": 2.0}
NAMES = ("regressions", "history", "fixes", "flaky", "divergences", "level-drops", "time-shifts", "coverage", "slow")


def prepare(path):
    answers = path.with_suffix(".json")
    if not path.exists():
        planted = make_history.make(path, nights=208, cases=10000, devices=5, plants=40, peer_cases=200)
        answers.write_text(json.dumps(planted), encoding="utf-8")
    return json.loads(answers.read_text(encoding="utf-8"))


def main():
    folder = None if len(sys.argv) > 1 else tempfile.TemporaryDirectory()
    path = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else os.path.join(folder.name, "ten-million.db"))
    answers = prepare(path)
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    n = db.execute("SELECT count(*) FROM result").fetchone()[0]
    print(f"{n} results, {path.stat().st_size / n:.1f} bytes each, everything included")
    wrong = []
    for name in NAMES:
        seconds = []
        for _ in range(2 if name in LIMIT_SECONDS else 1):
            start = time.monotonic()
            rows = history_test.ask(db, name)
            seconds.append(time.monotonic() - start)
        print(f"{name:12} {len(rows):6} rows  {seconds[-1]:6.2f} s")
        if seconds[-1] > LIMIT_SECONDS.get(name, 1e9):
            wrong.append(f"{name}: {seconds[-1]:.2f} s, {LIMIT_SECONDS[name]:.0f} s are allowed")
    found = {(*history_test.key(r), r["first_bad_run"]) for r in history_test.ask(db, "regressions")}
    if found != {(*a["series"], a["first_bad_run"]) for a in answers["regressions"]}:
        wrong.append("regressions: not what was planted")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
