#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Everything planted in a made history is found by the queries, and nothing else is.

    history_test.py [SEED ..]         default: three fixed ones; other seeds are other histories

Runs each reports/NAME.sql as it stands, with Python's sqlite3, and compares with the answers of make_history.py.
"""
import pathlib
import sqlite3
import sys
import tempfile

import make_history

REPORTS = pathlib.Path(__file__).resolve().parents[1]


class Nothing(dict):
    """Parameters that are not given are NULL."""

    def __missing__(self, key):
        return None


def ask(db, name, **parameters):
    cursor = db.execute((REPORTS / f"{name}.sql").read_text(encoding="utf-8"), Nothing(parameters))
    columns = [c[0] for c in cursor.description]
    return [dict(zip(columns, row)) for row in cursor]


def key(row):
    return (row["device_id"], row["provider"], row["case_name"])


def found_and_planted(db, answers):
    """Per question: what was found, what was planted, as sets of things that can be compared."""
    yield ("regressions",
           {(*key(r), r["verdict"], r["first_bad_run"], r["last_good_run"],
             r["commits"], "driver" in r["changed"]) for r in ask(db, "regressions")},
           {(*a["series"], a["verdict"], a["first_bad_run"], a["last_good_run"],
             a["last_good_commit"] + ("" if a["last_good_commit"] == a["first_bad_commit"]
                                      else ".." + a["first_bad_commit"]), a["driver_changed"])
            for a in answers["regressions"]})
    yield ("fixes", {(*key(r), r["first_good_run"]) for r in ask(db, "fixes")},
           {(*a["series"], a["first_good_run"]) for a in answers["fixes"]})
    yield ("flaky", {(*key(r), r["n_bad"]) for r in ask(db, "flaky")},
           {(*a["series"], a["episodes"]) for a in answers["flaky"]})
    yield ("divergences",
           {(r["case_name"], r["provider"], r["device_a"], r["device_b"], r["kind"], r["state"] == "open",
             r["first_run_a"], r["first_run_b"], r["last_run_a"], r["last_run_b"])
            for r in ask(db, "divergences")},
           {(a["case"], a["provider"], *a["devices"], a["kind"], a["open"], *a["first"], *a["last"])
            for a in answers["divergences"]})
    shifts = ask(db, "time-shifts")
    # The night a step is dated to may be one off: noise moves it.
    yield ("time-shifts", {(*key(r), r["answer"]) for r in shifts if r["answer"] != "AMBIGUOUS"},
           {(*a["series"], "SLOWER" if a["factor"] > 1 else "FASTER") for a in answers["time_shifts"]})
    yield ("time-shifts that cannot be told yet", {key(r) for r in shifts if r["answer"] == "AMBIGUOUS"},
           {tuple(a["series"]) for a in answers["ambiguous_shifts"]})
    yield ("level-drops", {(*key(r), r["first_lower_run"]) for r in ask(db, "level-drops")},
           {(*a["series"], a["first_lower_run"]) for a in answers["level_drops"]})


def check_filters(db, answers):
    """The filters of regressions take a part of all, and all parts together are the whole."""
    everything = {key(r): r for r in ask(db, "regressions")}
    archs = {r["arch"].split(":")[0] for r in everything.values()}
    parts = [key(r) for arch in archs for r in ask(db, "regressions", arch=arch)]
    wrong = [] if sorted(parts) == sorted(everything) else ["regressions: arch= does not split them"]
    times = sorted(r["first_bad_at"] for r in everything.values())
    middle = times[len(times) // 2]
    expected = {k for k, r in everything.items() if r["first_bad_at"] >= middle}
    if {key(r) for r in ask(db, "regressions", since=middle)} != expected:
        wrong.append("regressions: since= takes the wrong ones")
    for row in everything.values():
        for other in ask(db, "history", case=row["case_name"], device=row["device_id"], provider=row["provider"]):
            if other["run"] == row["first_bad_run"] and other["verdict"] in ("pass", "xpass"):
                wrong.append(f"history: {other['run']} of {row['case_name']} is good, regressions says first bad")
    if not answers["regressions"]:
        wrong.append("nothing was planted: this test cannot fail")
    return wrong


def main():
    wrong = []
    for seed in [int(word) for word in sys.argv[1:]] or [1, 3, 12]:  # 12: an odd first night was taken for a step
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "history.db")
            answers = make_history.make(path, seed=seed)
            db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
            for name, found, planted in found_and_planted(db, answers):
                wrong += [f"seed {seed}: {name}: not found: {thing}" for thing in sorted(planted - found, key=str)]
                wrong += [f"seed {seed}: {name}: invented: {thing}" for thing in sorted(found - planted, key=str)]
                if not planted:
                    wrong.append(f"seed {seed}: {name}: nothing planted, nothing tested")
            wrong += check_filters(db, answers)
            db.close()
    print("\n".join(wrong[:40]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
