#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turns a database into pages: `topkcts report --html DIR`, or report.py --db FILE --html DIR.

Owns: which questions the pages ask (the SQL files beside this one, and the views) and what is written where. The looks
are in pages/: templates, one style sheet, one script. The pages are static and need no network: data that a browser
draws by itself (the list of cases, the histories) lies in .js files beside them, since a page opened from a path may
load scripts and nothing else.

    DIR/index.html      how things stand: verdicts, what broke, family x device, divergences, times, coverage, runs
    DIR/cases.html      every case, with search and filters
    DIR/case.html#NAME  one case: level ladder, digests, history, times, a picture of failing rows
    DIR/data/, DIR/assets/

Needs Jinja2 and plotly (Debian: python3-jinja2 python3-plotly); with numpy and the program, failing rows of cases in
the registry are drawn with their values.
"""
import argparse
import collections
import concurrent.futures
import contextlib
import datetime
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
VERDICTS = "pass fail crash timeout flaky xfail xpass error skip notrun".split()
LEVELS = "none safe valid set-repeatable repeatable invariant canonical".split()
BAD = {"fail", "crash", "timeout", "flaky"}
CASES_PER_FILE = 100
MAX_PICTURES = 40        # each asks the program for the case's inputs
MAX_GUARDS = 20          # the newest sessions
MAX_LISTED = 500         # rows of a table on the first page; the questions themselves give all


class Unset(dict):
    """A parameter that is not given is NULL."""

    def __missing__(self, key):
        return None


def ask(db, name, **parameters):
    """The rows of reports/NAME.sql as dictionaries."""
    cursor = db.execute((HERE / f"{name}.sql").read_text(encoding="utf-8"), Unset(parameters))
    columns = [column[0] for column in cursor.description]
    return [dict(zip(columns, row)) for row in cursor]


def rows(db, sql, *parameters):
    cursor = db.execute(sql, parameters)
    columns = [column[0] for column in cursor.description]
    return [dict(zip(columns, row)) for row in cursor]


def connect(path):
    """Reads beside a run that writes; where nothing may be written, a file at rest (no log beside it) is read as such."""
    uri = pathlib.Path(path).resolve().as_uri()
    db = sqlite3.connect(f"{uri}?mode=ro", uri=True)
    try:
        db.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()
    except sqlite3.OperationalError:
        log = f"{path}-wal"
        if os.path.exists(log) and os.path.getsize(log):
            raise
        db = sqlite3.connect(f"{uri}?immutable=1", uri=True)
    return db


def open_database(path):
    if not os.path.exists(path):
        sys.exit(f"report: {path}: there is no such database")
    try:
        db = connect(path)
        db.execute("PRAGMA mmap_size = 4294967296")
        db.execute("SELECT 1 FROM latest LIMIT 1").fetchall()
        if not db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'outcomes'").fetchone():
            # Written by an older version: its lean views are lent for this connection, the file stays as it is.
            views = HERE.parent / "harness" / "schema_3.sql"
            if not views.exists():
                sys.exit(f"report: {path}: written by an older version; bring it forward first: topkcts merge NEW.db {path}")
            text = views.read_text(encoding="utf-8")
            db.executescript(text[text.index("CREATE VIEW"):].replace("CREATE VIEW", "CREATE TEMP VIEW"))
        if not db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'guard_exclusions'").fetchone():
            # Before version 4 nobody could exclude a session.
            db.execute("CREATE TEMP VIEW guard_exclusions AS SELECT NULL AS session, NULL AS reason WHERE 0")
    except sqlite3.DatabaseError as problem:
        sys.exit(f"report: {path}: no database of topkcts, or damaged: {problem}")
    return db


class Report:
    """Everything the pages show, read once."""

    def __init__(self, database, nights):
        db = self.db = open_database(database)
        self.nights = nights
        self.standing = rows(db, "SELECT * FROM latest ORDER BY case_name, provider, device_id, origin")
        self.devices = rows(db, "SELECT * FROM devices ORDER BY backend, arch, device_id")
        self.runs = rows(db, "SELECT r.*, d.harness_version, d.registry_hash, d.patch_id, d.environment, "
                             "d.excluded_reason FROM runs AS r JOIN run_details AS d USING (run) "
                             "ORDER BY r.started_at, r.run")
        self.run_devices = rows(db, "SELECT * FROM run_devices")
        self.providers = rows(db, "SELECT * FROM run_providers")
        self.warnings = rows(db, "SELECT * FROM run_warnings ORDER BY at DESC LIMIT 100")
        self.guards = self._read_guards()
        self.device_index = {d["device_id"]: i for i, d in enumerate(self.devices)}
        self.run_index = {r["run"]: i for i, r in enumerate(self.runs)}
        self.cases, self.case_index = [], {}
        for row in self.standing:
            if row["case_name"] not in self.case_index:
                self.case_index[row["case_name"]] = len(self.cases)
                self.cases.append(row)
        self._answers = self._ask_all(database)

    def _read_guards(self):
        """The newest sessions of guards with their cells; none in a database of a version that knew no guards."""
        db = self.db
        if not db.execute("SELECT 1 FROM sqlite_schema WHERE type = 'view' AND name = 'guard_cases'").fetchone():
            return []
        sessions = ask(db, "guards", last=MAX_GUARDS)
        for session in sessions:
            session["cases"] = rows(db, "SELECT * FROM guard_cases WHERE session = ? ORDER BY case_name, outputs",
                                    session["session"])
            ends = [abs(100 * (c[k] - 1)) for c in session["cases"] for k in ("ratio_low", "ratio_high", "control_low",
                                                                              "control_high") if c[k]]
            # Percents left and right of the middle; far outliers are cut off, and told in the row beside.
            session["reach"] = min(max(ends + [1.5 * session["limit_percent"]]), 6 * session["limit_percent"])
        return sessions

    def _ask_all(self, database):
        """Starts all questions, two at a time: SQLite works outside of Python's lock, and pages are made meanwhile."""
        asked = {"divergences": {"days": self.nights}, "time-shifts": {"days": self.nights}, "level-drops": {},
                 "regressions": {}, "fixes": {"days": self.nights}, "flaky": {"days": self.nights}, "coverage": {},
                 "slow": {"limit": 5}}
        threads = concurrent.futures.ThreadPoolExecutor(max_workers=2)
        return {name.replace("-", "_"): threads.submit(lambda n=name, p=parameters: ask(open_database(database), n, **p))
                for name, parameters in asked.items()}

    @property
    def questions(self):
        return {name: answer.result() for name, answer in self._answers.items()}

    # ---- the first page -----------------------------------------------------------------------------------------

    def matrix(self):
        """family -> device -> counts of verdicts."""
        table = collections.defaultdict(lambda: collections.defaultdict(collections.Counter))
        for row in self.standing:
            table[row["family"]][row["device_id"]][row["verdict"]] += 1
        return {family: dict(devices) for family, devices in sorted(table.items())}

    def counts(self):
        return {device["device_id"]: collections.Counter(r["verdict"] for r in self.standing
                                                         if r["device_id"] == device["device_id"])
                for device in self.devices}

    def provenance(self):
        """The newest runs with what they ran on and with, newest first."""
        devices, providers = collections.defaultdict(list), collections.defaultdict(list)
        for row in self.run_devices:
            devices[row["run"]].append(row)
        for row in self.providers:
            providers[row["run"]].append(row)
        return [{**run, "devices": devices[run["run"]], "providers": providers[run["run"]]}
                for run in reversed(self.runs[-200:])]

    # ---- data for the browser -----------------------------------------------------------------------------------

    def index_data(self):
        return {
            "verdicts": VERDICTS, "levels": LEVELS, "perFile": CASES_PER_FILE,
            "devices": [[d["device_id"], d["arch"], d["device"], d["driver"]] for d in self.devices],
            "runs": [[r["run"], r["started_at"], r["label"], (r["source_commit"] or "")[:12], r["excluded"]]
                     for r in self.runs],
            "cases": [[c["case_name"], c["family"], c["fault"], c["topk"], c["length"], c["page_size"], c["batch"],
                       c["outputs"]] for c in self.cases],
            "standing": [[self.case_index[r["case_name"]], self.device_index[r["device_id"]], r["provider"],
                          r["origin"], VERDICTS.index(r["verdict"]),
                          LEVELS.index(r["level"]) if r["level"] else -1, LEVELS.index(r["promised"]),
                          self.run_index[r["run"]], r["kernel_us_p50"], r["path"]] for r in self.standing],
        }

    def histories(self):
        """Per case: per device, provider and origin: [run, verdict, level, microseconds, what changed] of the newest
        runs. What changed is a text where build, driver or compiler differ from the run before."""
        newest = self.runs[-1]["started_at"] if self.runs else ""
        start = (datetime.datetime.fromisoformat(newest.replace("Z", "+00:00")) - datetime.timedelta(days=self.nights)
                 ).strftime("%Y-%m-%dT%H:%M:%S") if newest else ""
        found = [collections.defaultdict(list) for _ in self.cases]
        verdict_code = {v: i for i, v in enumerate(VERDICTS)}
        level_code = {v: i for i, v in enumerate(LEVELS)}
        sql = ("SELECT case_name, device_id, provider, origin, verdict, level, kernel_us_p50, provider_digest, driver, "
               "toolchain FROM results WHERE run = ? ORDER BY attempt")
        before, changes = {}, {}
        for number, run in enumerate(self.runs):
            if run["started_at"] < start or run["excluded"]:
                continue
            for name, device, provider, origin, verdict, level, us, digest, driver, toolchain in \
                    self.db.execute(sql, (run["run"],)):
                case = self.case_index.get(name)
                if case is None:
                    continue
                made_with = (digest, driver, toolchain)
                key = (device, provider, origin)
                if (key, number) not in changes:
                    old = before.get(key, made_with)
                    changes[key, number] = ", ".join(
                        word for word, a, b in zip(("build", "driver", "compiler"), old, made_with) if a != b)
                    before[key] = made_with
                found[case][key].append((number, verdict_code[verdict], level_code.get(level, -1), us,
                                         changes[key, number]))
        return found

    def details(self):
        """Per case: everything its page needs beyond the index, see `case` in pages/report.js."""
        failures = collections.defaultdict(list)
        for row in rows(self.db, "SELECT l.case_name, l.device_id, l.provider, f.row, f.length, f.topk, f.cut_value, "
                                 "f.cut_equal, f.n_missing, f.n_extra, f.missing, f.extra, f.explanation "
                                 "FROM latest AS l JOIN row_failures AS f ON f.run = l.run "
                                 "AND f.device_id = l.device_id AND f.provider = l.provider AND f.origin = l.origin "
                                 "AND f.case_name = l.case_name AND f.attempt = l.attempt "
                                 "AND f.provider_digest = l.provider_digest WHERE l.verdict <> 'pass'"):
            row["missing"], row["extra"] = json.loads(row["missing"] or "[]"), json.loads(row["extra"] or "[]")
            failures[row["case_name"]].append(row)
        now = collections.defaultdict(list)
        for r in self.standing:
            now[r["case_name"]].append({k: r[k] for k in (
                "device_id", "arch", "provider", "origin", "provider_version", "verdict", "level", "promised",
                "set_exact", "output_digest", "set_digest", "input_hash", "reason", "expected", "path", "run",
                "source_commit", "repeats")})
        for case, history in zip(self.cases, self.histories()):
            yield {"name": case["case_name"], "now": now[case["case_name"]],
                   "failures": failures.get(case["case_name"], []),
                   "history": [[self.device_index[d], p, o, points] for (d, p, o), points in sorted(history.items())]}


def add_values(program, cases):
    """Adds the scores around the cut to failing rows, for cases the program can make again; says why not otherwise."""
    try:
        import numpy
    except ImportError:
        return "values are not drawn: numpy is not installed (Debian: python3-numpy)"
    left = MAX_PICTURES
    for case in cases:
        if not case["failures"] or left == 0:
            continue
        left -= 1
        with tempfile.TemporaryDirectory() as folder:
            made = subprocess.run([program, "show", case["name"], "--dump", folder], capture_output=True, check=False)
            if made.returncode:
                continue
            scores = numpy.load(os.path.join(folder, "scores.npy"), mmap_mode="r")
            lengths = numpy.load(os.path.join(folder, "seq_lens.npy"))
            for failure in case["failures"]:
                row = failure["row"]
                if row >= len(lengths) or lengths[row] != failure["length"]:
                    continue  # of another launch, with other inputs than those made here
                values = numpy.asarray(scores[failure["row"]][:lengths[failure["row"]]])
                order = numpy.lexsort((numpy.arange(len(values)), -values))
                low = max(0, failure["topk"] - 24)
                failure["around"] = [[int(i), float(values[i]) if numpy.isfinite(values[i]) else str(values[i])]
                                     for i in order[low:failure["topk"] + 24]]
                failure["around_from"] = low
    return None


def write_script(path, call, value):
    """A .js file that hands JSON to a function. `<` cannot end a script that a page would hold."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")
    path.write_text(f"{call}({text});\n", encoding="utf-8")


def short(name):
    """A case's name with places to break the line."""
    return re.sub(r"([/,])", "\\1\u200b", name or "")


def percent(ratio):
    """A ratio as people read it: +5.2 %."""
    return "" if ratio is None else f"{100 * (ratio - 1):+.2f} %"


def bar(low, high, reach, width=220):
    """Left edge and width, in pixels, of an interval of ratios on a scale of -reach to +reach percent."""
    edges = [max(0.0, min(width, (100 * (r - 1) + reach) / (2 * reach) * width)) for r in (low, high)]
    return round(edges[0], 1), round(max(edges[1] - edges[0], 1.5), 1)


def publish(report, folder, program):
    """Makes all pages in a folder of their own inside of DIR, then moves them into place: where they cannot be finished
    (a full disk, Ctrl-C), DIR is left as it was, and one that was not there is gone again."""
    folder = pathlib.Path(folder)
    absent = [place for place in (folder, *folder.parents) if not place.exists()]  # innermost first
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(prefix=".unfinished-", dir=folder) as unfinished:
            made = pathlib.Path(unfinished)
            write(report, made, program)
            files = [file.relative_to(made) for file in sorted(made.rglob("*")) if file.is_file()]
            for file in files:
                (folder / file).parent.mkdir(exist_ok=True)
                os.replace(made / file, folder / file)
            for old in (folder / "data").glob("*.js"):
                if old.relative_to(folder) not in files:
                    old.unlink()
    except BaseException:
        with contextlib.suppress(OSError):
            for place in absent:
                place.rmdir()
        raise


def write(report, folder, program):
    """Writes the pages into an empty folder."""
    import jinja2
    import plotly.offline
    for part in ("data", "assets"):
        (folder / part).mkdir()
    pages = jinja2.Environment(loader=jinja2.FileSystemLoader(HERE / "pages"), autoescape=True, trim_blocks=True,
                               lstrip_blocks=True, undefined=jinja2.StrictUndefined)
    pages.filters.update(short=short, percent=percent)
    pages.globals["bar"] = bar
    pages.globals.update(verdicts=VERDICTS, bad=BAD, max_listed=MAX_LISTED)
    write_script(folder / "data" / "index.js", "topkcts.index", report.index_data())
    part, number, note = [], 0, None
    for case in report.details():
        part.append(case)
        if len(part) == CASES_PER_FILE:
            note = (program and add_values(program, part)) or note
            write_script(folder / "data" / f"cases-{number}.js", "topkcts.cases", part)
            part, number = [], number + 1
    if part:
        note = (program and add_values(program, part)) or note
        write_script(folder / "data" / f"cases-{number}.js", "topkcts.cases", part)
    common = {"made_at": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"), "note": note,
              "nights": report.nights}
    for name in ("index", "cases", "case"):
        html = pages.get_template(f"{name}.html").render(
            report=report, devices=report.devices, questions=report.questions, page=name, **common)
        (folder / f"{name}.html").write_text(html, encoding="utf-8")
    for name in ("report.css", "report.js"):
        shutil.copyfile(HERE / "pages" / name, folder / "assets" / name)
    (folder / "assets" / "plotly.min.js").write_text(plotly.offline.get_plotlyjs(), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--db", default="topkcts.db", help="the database (default: topkcts.db)")
    parser.add_argument("--html", required=True, metavar="DIR", help="where the pages go")
    parser.add_argument("--nights", type=int, default=30, help="days of history on the pages (default: 30)")
    parser.add_argument("--program", help="topkcts, to draw failing rows with their values")
    given = parser.parse_args()
    report = Report(given.db, given.nights)
    try:
        publish(report, given.html, given.program)
    except OSError as cause:
        sys.exit(f"{cause.filename or given.html}: {cause.strerror}")
    print(f"{len(report.cases)} cases, {len(report.devices)} devices, {len(report.runs)} runs: "
          f"{pathlib.Path(given.html, 'index.html')}")


if __name__ == "__main__":
    main()
