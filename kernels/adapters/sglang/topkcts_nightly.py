# SPDX-License-Identifier: Apache-2.0
"""Runs a suite of topkcts as one registered test file of SGLang's CI.

What SGLang's runner asks of a file, and how it is met here:

- It is started as `python3 FILE -f`; -f is accepted and changes nothing. It ends with 0 or 1 and nothing else: other
  codes would make the outer script run everything again.
- A run that judged too little is red: the file says how many cases are the least.
- It keeps a budget below the runner's limit (900 s), so that the books are closed before anybody is killed: topkcts knows the budget, and is watched from here as well.
- Whether a red file is tried again is decided by words on its output. So the output is one line of neutral words, and
  everything else stands in files: the log, the database, JSON lines, JUnit, and the Markdown of the step summary.

Environment: TOPKCTS_HOME, the checkout of topkcts (default: where this file stands); TOPKCTS_OUTPUT, where files go
(default: ./topkcts-output); TOPKCTS_SUITE, TOPKCTS_PROVIDER, TOPKCTS_DEVICE and TOPKCTS_MINIMUM, to try the file on
another machine.
"""
import os
import pathlib
import re
import signal
import sqlite3
import subprocess
import sys

# Words that the runner looks for, in any case and inside of other words too.
LOADED_WORDS = re.compile(
    r"accuracy|score|latency|throughput|timeout|\w*error\b|oom|out of memory|segmentation fault|core dumped|!=|"
    r"not (greater|less) than|not equal to", re.IGNORECASE)

# How long the books may take to close once the budget is spent, and a child to go once it was told to.
CLOSING_SECONDS = 60

JUDGED = ("pass", "fail", "crash", "timeout", "flaky", "xfail", "xpass")


def say(text):
    print(LOADED_WORDS.sub("...", text), flush=True)


def home():
    return pathlib.Path(os.environ.get("TOPKCTS_HOME") or pathlib.Path(__file__).resolve().parents[3])


def find_program(log):
    """The program, built when it is not there. None when that fails: red, never skipped."""
    program = home() / "build" / "topkcts"
    if not program.exists():
        subprocess.run(["make", "-C", str(home())], stdout=log, stderr=subprocess.STDOUT, check=False)
    return program if program.exists() else None


def count_judged(database, label):
    """(planned, judged) of the newest run with this label."""
    if not database.exists():
        return 0, 0
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    try:
        run = connection.execute("SELECT run FROM runs WHERE label = ? ORDER BY started_at DESC LIMIT 1",
                                 (label,)).fetchone()
        if run is None:
            return 0, 0
        marks = ",".join("?" * len(JUDGED))
        return connection.execute(f"SELECT count(*), coalesce(sum(verdict IN ({marks})), 0) FROM results WHERE run = ?",
                                  (*JUDGED, run[0])).fetchone()
    finally:
        connection.close()


def run_within(command, seconds, log):
    """The exit code; None when the budget was spent. The first signal lets the runner close its books."""
    process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
    try:
        process.wait(CLOSING_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return None


def run_suite(name, suite, minimum, budget_seconds, provider):
    """0 when the suite ran, judged at least `minimum` cases, and everything was as promised; else 1."""
    output = pathlib.Path(os.environ.get("TOPKCTS_OUTPUT") or "topkcts-output").absolute()
    output.mkdir(parents=True, exist_ok=True)
    suite = os.environ.get("TOPKCTS_SUITE", suite)
    minimum = int(os.environ.get("TOPKCTS_MINIMUM", minimum))
    database = output / f"{name}.db"
    with open(output / f"{name}.log", "ab") as log:
        program = find_program(log)
        if program is None:
            say(f"{name}: RED, the program could not be built; see {output}")
            return 1
        command = [str(program), "run", "--suite", suite, "--db", str(database), "--label", name,
                   "--provider", os.environ.get("TOPKCTS_PROVIDER", provider),
                   "--time-limit", str(budget_seconds), "--junit", str(output / f"{name}.xml"),
                   "--json-lines", str(output / f"{name}.jsonl"),
                   "--markdown", os.environ.get("GITHUB_STEP_SUMMARY") or str(output / f"{name}.md")]
        if os.environ.get("TOPKCTS_DEVICE"):
            command += ["--device", os.environ["TOPKCTS_DEVICE"]]
        try:
            status = run_within(command, budget_seconds + CLOSING_SECONDS / 2, log)
        except OSError as problem:
            log.write(f"{problem}\n".encode())
            status = -1
    planned, judged = count_judged(database, name)
    enough = judged >= minimum
    green = status == 0 and enough
    reason = "" if green else ", budget spent" if status is None else \
        f", fewer than the {minimum} that are asked for" if not enough else f", status {status}"
    say(f"{name}: {'GREEN' if green else 'RED'}, {judged} of {planned} cases judged{reason}; see {output}")
    return 0 if green else 1


def main(**suite):
    """What a registered file calls. Never lets anything but 0 or 1 out, nor a traceback onto the output."""
    try:
        status = run_suite(**suite)
    except Exception as problem:  # pylint: disable=broad-except
        say(f"{suite.get('name')}: RED, {type(problem).__name__}: {problem}")
        status = 1
    sys.exit(status)
