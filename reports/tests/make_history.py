#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a database with a history whose troubles are known: nights x devices x cases.

    make_history.py OUT.db [--nights N] [--cases N] [--devices N] [--seed N] [--plants N] [--answers FILE]

Owns: the shape of a realistic history (runs that start at different hours, nights that never came, drivers and
builds that change, cases that always failed, voided runs, retries, skips) and the troubles planted in it. The answers
are worked out here from what was planted, night by night, never by asking the database.

This is the one script in reports/ that knows the tables of harness/schema.sql: it has to write them, ten million rows
in about two minutes. Everything that reads goes through the views.
"""
import argparse
import datetime
import hashlib
import json
import math
import pathlib
import random
import sqlite3

HARNESS = pathlib.Path(__file__).resolve().parents[2] / "harness"

PASS, FAIL, CRASH, TIMEOUT, FLAKY, XFAIL, XPASS, ERROR, SKIP, NOTRUN = range(10)
VERDICTS = "pass fail crash timeout flaky xfail xpass error skip notrun".split()
VALID, SET_REPEATABLE, CANONICAL = 2, 3, 6
LEVELS = "none safe valid set-repeatable repeatable invariant canonical".split()

# Backend, product, architecture, driver.
MODELS = [
    ("hip", "Radeon RX 7900 XTX", "gfx1100", "6.12.12"),
    ("hip", "Instinct MI300X", "gfx942:sramecc+:xnack-", "6.12.12"),
    ("cuda", "H200", "sm_90", "570.86.15"),
    ("hip", "Instinct MI210", "gfx90a:sramecc+:xnack-", "6.12.12"),
    ("sim", "SIMT simulator", "sim", None),
    ("hip", "Radeon RX 9070 XT", "gfx1201", "6.12.12"),
]
FAMILIES = ["boundary-ties", "overflow-bins", "ragged-rows", "signed-zeroes", "short-rows", "page-mapping",
            "repeat-determinism", "scale-sweep"]
FIRST_NIGHT = datetime.datetime(2026, 3, 2, 21, 0)


def digest(*words):
    """16 bytes that stand for the words, always the same."""
    return hashlib.blake2b("/".join(map(str, words)).encode(), digest_size=16).digest()


def stamp(moment):
    return moment.strftime("%Y-%m-%dT%H:%M:%S.000Z")


class Series:
    """What one provider does with one case on one device, night by night. Only troubled series have one."""

    def __init__(self, n_nights):
        self.verdict = [PASS] * n_nights
        self.variant = [0] * n_nights      # another number is another output
        self.factor = [1.0] * n_nights     # on the kernel's time
        self.level = [None] * n_nights     # None: as good as promised or better
        self.retried = [False] * n_nights  # a first attempt failed, then the verdict


class History:
    def __init__(self, nights, cases, devices, seed, plants, peer_cases):
        self.random = random.Random(seed)
        self.n_nights, self.n_cases, self.n_devices, self.n_plants = nights, cases, devices, plants
        self.providers = [("v1", CANONICAL, "level=canonical", range(cases)),
                          ("peer", VALID, "level=valid tie=any", range(min(cases, peer_cases)))]
        self.troubled = {}  # (device, provider, case) -> Series
        self.used = set()   # (provider, case): a case takes part in one story only
        self.answers = {name: [] for name in ("regressions", "fixes", "flaky", "divergences", "time_shifts",
                                              "ambiguous_shifts", "level_drops")}
        self._make_calendar()
        self._make_cases()

    # ---- what happens without any trouble -----------------------------------------------------------------------

    def _make_calendar(self):
        rng = self.random
        self.commit, self.build, self.here, self.driver, self.start = [], [], [], [], []
        commit = 0
        drivers = [0] * self.n_devices
        for night in range(self.n_nights):
            if night and rng.random() < 0.6:
                commit += 1
            self.commit.append(hashlib.sha1(f"commit {commit}".encode()).hexdigest())
            self.build.append(commit)
            last = night >= self.n_nights - 1
            self.here.append([last or night == 0 or rng.random() > 0.04 for _ in range(self.n_devices)])
            for device in range(self.n_devices):
                if night and MODELS[device % len(MODELS)][3] and rng.random() < 0.015:
                    drivers[device] += 1
            self.driver.append(list(drivers))
            # Devices start between 21:00 and 03:00, so that a night crosses midnight.
            self.start.append([FIRST_NIGHT + datetime.timedelta(days=night, minutes=rng.randrange(0, 360), seconds=d)
                               for d in range(self.n_devices)])

    def _make_cases(self):
        self.cases = []
        for i in range(self.n_cases):
            family = FAMILIES[i % len(FAMILIES)]
            topk, page, batch = (512, 257, 1024, 64)[i % 4], (64, 1, 256)[i % 3], (1, 8)[i % 2]
            length, outputs = 1025 + 37 * i, ("page", "page+raw", "raw")[i % 3]
            name = f"{family}/topk={topk},length={length},page_size={page},batch={batch},outputs={outputs}"
            self.cases.append((name, family, family, topk, length, page, batch, outputs))

    def key(self, device, provider, case):
        return [self.device_id(device), self.providers[provider][0], self.cases[case][0]]

    def device_id(self, device):
        backend, _, arch, _ = MODELS[device % len(MODELS)]
        return arch if backend == "sim" else f"GPU-{device:04x}-{arch.split(':')[0]}"

    def run_name(self, night, device):
        return f"{self.start[night][device]:%Y%m%dT%H%M%SZ}-{night:04x}{device:04x}"

    # ---- planting -----------------------------------------------------------------------------------------------

    def pick_case(self, provider=0):
        while True:
            case = self.random.choice(self.providers[provider][3])
            if (provider, case) not in self.used:
                self.used.add((provider, case))
                return case

    def series(self, device, provider, case):
        return self.troubled.setdefault((device, provider, case), Series(self.n_nights))

    def nights_of(self, device, first=0, end=None):
        return [n for n in range(first, self.n_nights if end is None else end) if self.here[n][device]]

    def pick_night(self, device, low, high):
        """A night on which the device ran, not the first it ran."""
        return self.random.choice([n for n in self.nights_of(device) if low <= n < high])

    def plant_all(self):
        kinds = [self.plant_regression, self.plant_fix, self.plant_episode, self.plant_flake,
                 self.plant_digest_divergence, self.plant_time_shift, self.plant_always_bad, self.plant_level_drop,
                 self.plant_common_regression, self.plant_ambiguous_shift, self.plant_noise]
        for i in range(self.n_plants):
            for plant in kinds:
                plant(i)
        self._work_out_divergences()

    def plant_regression(self, i):
        rng, device, provider = self.random, i % self.n_devices, (i // 2) % 2
        case = self.pick_case(provider)
        # Every third on the very last night: nothing but one bad result speaks for it.
        night = self.n_nights - 1 if i % 3 == 0 else self.pick_night(device, 3, self.n_nights)
        bad = (FAIL, CRASH, TIMEOUT)[i % 3]
        series = self.series(device, provider, case)
        for n in range(night, self.n_nights):
            series.verdict[n] = bad
            series.variant[n] = 100 + n
        self._answer_regression(device, provider, case, night, bad)

    def _answer_regression(self, device, provider, case, night, bad):
        first_bad, last_good = self.nights_of(device, night)[0], self.nights_of(device, 0, night)[-1]
        self.answers["regressions"].append({
            "series": self.key(device, provider, case), "verdict": VERDICTS[bad],
            "first_bad_run": self.run_name(first_bad, device), "last_good_run": self.run_name(last_good, device),
            "first_bad_commit": self.commit[first_bad], "last_good_commit": self.commit[last_good],
            "driver_changed": self.driver[first_bad][device] != self.driver[last_good][device]})

    def plant_common_regression(self, i):
        """All devices break on one commit: a regression on each, a divergence of none."""
        if i % 3:
            return
        case, night = self.pick_case(), self.random.randrange(3, self.n_nights)
        for device in range(self.n_devices):
            series = self.series(device, 0, case)
            for n in range(night, self.n_nights):
                series.verdict[n] = FAIL
            self._answer_regression(device, 0, case, night, FAIL)

    def plant_fix(self, i):
        device = i % self.n_devices
        case = self.pick_case()
        nights = self.nights_of(device)
        night = self.random.choice([b for a, b in zip(nights[2:], nights[3:]) if self.build[a] != self.build[b]])
        series = self.series(device, 0, case)
        for n in range(night):
            series.verdict[n] = FAIL
            series.variant[n] = 100 + n
        self._answer_fix(device, case, night)

    def _answer_fix(self, device, case, night):
        self.answers["fixes"].append({"series": self.key(device, 0, case),
                                      "first_good_run": self.run_name(night, device)})

    def plant_episode(self, i):
        """Broken for some nights in the middle, then mended with another build: neither open nor flaky."""
        device = (i + 1) % self.n_devices
        case = self.pick_case()
        starts = [n for n in self.nights_of(device) if 2 <= n < self.n_nights - 8]
        first = self.random.choice(starts)
        end = first + self.random.randrange(4, 7)
        while end < self.n_nights and (self.build[end] == self.build[end - 1] or not self.here[end][device]):
            end += 1
        series = self.series(device, 0, case)
        for n in range(first, end):
            series.verdict[n] = FAIL
            series.variant[n] = 100 + n
        if end == self.n_nights:  # no build mended it
            self._answer_regression(device, 0, case, first, FAIL)
        else:
            self._answer_fix(device, case, end)

    def plant_flake(self, i):
        """Now and then bad, on nights apart; every second one was tried again and is `flaky`."""
        rng, device = self.random, (i + 2) % self.n_devices
        case = self.pick_case()
        nights = self.nights_of(device)
        chosen = [nights[p] for p in sorted(rng.sample(range(2, len(nights) - 1, 2), 4))]
        if i % 4 < 2 and chosen[-1] != nights[-2]:
            chosen.append(nights[-1])  # the newest result is bad, and still this is no regression
        series = self.series(device, 0, case)
        for n in chosen:
            series.retried[n] = i % 2 == 0
            series.verdict[n] = FLAKY if i % 2 == 0 else FAIL
        self.answers["flaky"].append({"series": self.key(device, 0, case), "episodes": len(chosen)})

    def plant_digest_divergence(self, i):
        """Passes everywhere, yet one device puts out other bytes. With ties `any` that is its right."""
        device, provider = i % self.n_devices, int(i % 4 == 3)
        case = self.pick_case(provider)
        first = self.pick_night(device, 2, self.n_nights - 4)
        end = self.n_nights if i % 2 else min(self.n_nights, first + self.random.randrange(3, 8))
        series = self.series(device, provider, case)
        for n in range(first, end):
            series.variant[n] = 7

    def plant_always_bad(self, i):
        """Bad since the first night on one device: no regression, but the others do not show it."""
        device = i % self.n_devices
        case = self.pick_case()
        series = self.series(device, 0, case)
        for n in range(self.n_nights):
            series.verdict[n] = XFAIL if i % 2 else FAIL

    def plant_time_shift(self, i):
        device = i % self.n_devices
        case = self.pick_case()
        nights = self.nights_of(device)
        place = self.random.randrange(6, len(nights) - 5)
        night, factor = nights[place], self.random.choice([1.12, 1.2, 1.5, 2.5, 0.8, 0.88])
        series = self.series(device, 0, case)
        for n in range(night, self.n_nights):
            series.factor[n] = factor
        self.answers["time_shifts"].append({"series": self.key(device, 0, case), "factor": factor,
                                            "first_run": self.run_name(night, device)})

    def plant_ambiguous_shift(self, i):
        """Slower in the last two nights only: too early to tell."""
        device = i % self.n_devices
        case = self.pick_case()
        nights = self.nights_of(device)[-2:]
        series = self.series(device, 0, case)
        for n in nights:
            series.factor[n] = 1.3
        self.answers["ambiguous_shifts"].append({"series": self.key(device, 0, case)})

    def plant_noise(self, i):
        """One slow night in the past, and nights that judged nothing: to be found by nobody."""
        device = i % self.n_devices
        series = self.series(device, 0, self.pick_case())
        series.factor[self.nights_of(device)[len(self.nights_of(device)) // 2]] = 3.0
        series = self.series(device, 0, self.pick_case())
        for n in self.nights_of(device)[1:]:
            if self.random.random() < 0.3:
                series.verdict[n] = self.random.choice([ERROR, SKIP, NOTRUN])

    def plant_level_drop(self, i):
        device = i % self.n_devices
        case = self.pick_case(1)
        night = self.pick_night(device, 5, self.n_nights)
        series = self.series(device, 1, case)
        for n in range(self.n_nights):
            series.level[n] = CANONICAL if n < night else SET_REPEATABLE
        first = self.nights_of(device, night)[0]
        self.answers["level_drops"].append({"series": self.key(device, 1, case),
                                            "first_lower_run": self.run_name(first, device)})

    # ---- divergences: from what was planted, night by night -------------------------------------------------------

    def _state(self, device, provider, case, night):
        """'good' with its bytes, 'bad', or None where nothing is known or chance has its hand in it."""
        series = self.troubled.get((device, provider, case))
        if not self.here[night][device]:
            return None
        if series is None:
            return ("good", 0)
        verdict = series.verdict[night]
        if verdict in (FLAKY, ERROR, SKIP, NOTRUN):
            return None
        return ("good", series.variant[night]) if verdict in (PASS, XPASS) else ("bad", None)

    def _work_out_divergences(self):
        flaky = {tuple(a["series"]) for a in self.answers["flaky"]}
        for provider, case in sorted({(p, c) for _, p, c in self.troubled}):
            for a in range(self.n_devices):
                for b in range(a + 1, self.n_devices):
                    if tuple(self.key(a, provider, case)) in flaky or tuple(self.key(b, provider, case)) in flaky:
                        continue
                    self._divergences_of_pair(a, b, provider, case)

    def _divergences_of_pair(self, a, b, provider, case):
        in_order = sorted([a, b], key=self.device_id)

        def end(first, last, n, still_open, kind):
            if n >= 2 or still_open:
                self.answers["divergences"].append({
                    "case": self.cases[case][0], "provider": self.providers[provider][0],
                    "devices": sorted([self.device_id(a), self.device_id(b)]), "kind": kind, "open": still_open,
                    "first": [self.run_name(first, device) for device in in_order],
                    "last": [self.run_name(last, device) for device in in_order]})
        first, last, n, kind = None, None, 0, None
        for night in range(self.n_nights):
            x, y = self._state(a, provider, case, night), self._state(b, provider, case, night)
            if x is None or y is None:
                continue
            now = ("verdict" if x[0] != y[0] else
                   "bytes" if x[0] == "good" and x[1] != y[1] and self.providers[provider][1] == CANONICAL else None)
            if now != kind and kind:
                end(first, last, n, False, kind)
                n = 0
            kind = now
            if kind:
                first, last, n = (first if n else night), night, n + 1
        if kind:
            end(first, last, n, True, kind)

    # ---- writing ------------------------------------------------------------------------------------------------

    def write(self, path):
        path = pathlib.Path(path)
        for suffix in ("", "-wal", "-shm"):
            pathlib.Path(str(path) + suffix).unlink(missing_ok=True)
        db = sqlite3.connect(path)
        for script in ["schema.sql", *sorted(f.name for f in HARNESS.glob("schema_*.sql"))]:
            db.executescript((HARNESS / script).read_text(encoding="utf-8"))
        # Made again at the end: ten million entries in random order are slow, sorted they are not.
        index_sql = db.execute("SELECT sql FROM sqlite_schema WHERE name = 'result_of_series'").fetchone()[0]
        db.execute("DROP INDEX result_of_series")
        db.execute("PRAGMA synchronous = OFF")
        db.execute("PRAGMA journal_mode = OFF")
        db.execute("PRAGMA cache_size = -200000")
        self._write_words(db)
        latest = {}
        for night in range(self.n_nights):
            for device in range(self.n_devices):
                if self.here[night][device]:
                    self._write_run(db, night, device, latest, excluded=False)
        self._write_guards(db)
        # A voided run in which everything failed, newer than all the others.
        self._write_run(db, self.n_nights - 1, 0, latest, excluded=True)
        db.executemany("INSERT INTO latest_result VALUES (?, ?)", latest.items())
        db.execute(index_sql)
        db.commit()
        db.execute("PRAGMA journal_mode = WAL")
        db.close()

    def _write_guards(self, db):
        """Sessions of guards with every way to end; not by chance, so that the rest of the history stays as it is."""
        for i, (verdict, ratio, low, high) in enumerate([("within", 1.004, 0.996, 1.011), ("exceeds", 1.31, 1.28, 1.34),
                                                         ("cannot tell", 1.04, 0.91, 1.17), (None, None, None, None),
                                                         ("failed", None, None, None)]):
            backend, product, arch, driver = MODELS[i % self.n_devices]
            start = self.start[-1][0] - datetime.timedelta(hours=3 + i)
            wide = 0.12 if verdict == "cannot tell" else 0.004
            control = (1.0, 1 - wide, 1 + wide) if ratio else (None, None, None)
            name = f"{start:%Y%m%dT%H%M%SZ}-guard{i:03d}"
            reason = f"made up: {verdict}" if verdict else None
            db.execute("INSERT INTO guard_session (id, session, guard, what, percent, declared_at, declared_reason, "
                       "started_at, ended_at, device_id, backend, device, arch, driver, base, base_version, base_digest, "
                       "base_origin, candidate, candidate_version, candidate_digest, candidate_origin, cache, "
                       "budget_seconds, seed, resamples, confidence, clock, control, rounds, ratio, ratio_low, ratio_high, "
                       "control_ratio, control_low, control_high, drift, verdict, reason) "
                       f"VALUES ({', '.join('?' * 39)})",
                       (i + 1, name, "new-build", "a build against the one before", 5, "2026-01-05", "made up", stamp(start),
                        stamp(start + datetime.timedelta(minutes=1)) if verdict else None, self.device_id(i % self.n_devices),
                        backend, product, arch, driver, "v1", "1.0", digest("build", "a").hex(), "aot", "v1", "1.1",
                        digest("build", "b").hex(), "aot", "warm", 60, 1, 10000, 0.99,
                        ("wall" if backend == "sim" else "kernel") if ratio else None, "another process of the same provider",
                        24 if ratio else None, ratio, low, high, *control, 1.01 if ratio else None, verdict, reason))
            for case, outputs in enumerate(("page", "page+raw")):
                db.execute("INSERT INTO guard_cell (session, case_name, outputs, calls, base_us, candidate_us, copy_us, ratio, "
                           "ratio_low, ratio_high, control_ratio, control_low, control_high, verdict, reason) "
                           "VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                           (i + 1, self.cases[case][0], outputs, 1, 20.0 if ratio else None, 20.0 * ratio if ratio else None,
                            20.0 if ratio else None, ratio, low, high, *control, verdict, reason))

    def _write_words(self, db):
        db.executemany("INSERT INTO test_case VALUES (?,?,?,?,?,?,?,?,?,?)",
                       [(i + 1, *case, stamp(FIRST_NIGHT)) for i, case in enumerate(self.cases)])
        db.executemany("INSERT INTO device VALUES (?,?)", [(d + 1, self.device_id(d)) for d in range(self.n_devices)])
        self.series_ids, rows = {}, []
        self.base_us = [8.0 + 90.0 * self.random.random() for _ in range(self.n_cases)]
        for provider, (name, _, _, cases) in enumerate(self.providers):
            for device in range(self.n_devices):
                for case in cases:
                    self.series_ids[device, provider, case] = len(rows) + 1
                    rows.append((len(rows) + 1, case + 1, device + 1, name,
                                 "sim" if MODELS[device % len(MODELS)][0] == "sim" else "aot",
                                 digest("input", case).hex()))
        db.executemany("INSERT INTO series VALUES (?,?,?,?,?,?)", rows)
        self.right = [[(digest(p, "out", c, 0), digest("set", c, 0)) for c in cases]
                      for p, (_, _, _, cases) in enumerate(self.providers)]
        self.next_run = self.next_result = 1

    def _write_run(self, db, night, device, latest, excluded):
        run, self.next_run = self.next_run, self.next_run + 1
        backend, product, arch, driver = MODELS[device % len(MODELS)]
        start = self.start[night][device] + datetime.timedelta(hours=12 * excluded)
        name = f"{start:%Y%m%dT%H%M%SZ}-voided00" if excluded else self.run_name(night, device)
        db.execute("INSERT INTO run VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                   (run, name, stamp(start), stamp(start + datetime.timedelta(minutes=20)),
                    f"night {night}", f"nightly-{backend}", f"runner-{device}", json.dumps(["topkcts", "run"]), "0.1",
                    digest("registry").hex(), self.commit[night], self.commit[night], 0, None, "{}", 0, 0,
                    "the cooling failed" if excluded else None))
        driver = f"{driver}+{self.driver[night][device]}" if driver else None
        db.execute("INSERT INTO run_device VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
                   (run, run, device + 1, backend, product, arch, 32, 65536, 1 << 34, driver, driver, "hipcc 6.3"))
        rows, failures = [], []
        for provider, (provider_name, promised, claims, cases) in enumerate(self.providers):
            run_provider = run * len(self.providers) + provider
            db.execute("INSERT INTO run_provider VALUES (?,?,?,?,?,?,?,?,?)",
                       (run_provider, run, provider_name, f"1.{self.build[night]}",
                        digest("build", provider, backend, self.build[night]).hex(),
                        "sim" if backend == "sim" else "aot", claims, None, self.commit[night]))
            for case in cases:
                self._add_results(rows, failures, (run_provider, run, case + 1), device, provider, promised, case,
                                  night, latest, excluded)
        db.executemany("INSERT INTO result VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", rows)
        db.executemany("INSERT INTO row_failure VALUES (?,?,?,?,?,?,?,?,?,?,?)", failures)

    def _add_results(self, rows, failures, of, device, provider, promised, case, night, latest, excluded):
        series = self.troubled.get((device, provider, case))
        series_id = self.series_ids[device, provider, case]
        rng = self.random
        path = "short-row" if case % 5 == 0 else "long-row"
        wall = 20.0 + case % 50
        time = self.base_us[case] * (1.0 + 0.2 * device) * math.exp(rng.gauss(0.0, 0.01))
        digests = self.right[provider][case]
        if series is None and not excluded:
            result, self.next_result = self.next_result, self.next_result + 1
            rows.append((result, *of, series_id, 1, promised, 1, 1, PASS, max(promised, SET_REPEATABLE), 1, 10, wall,
                         round(time, 2), *digests, path, None, None))
            latest[series_id] = result
            return
        series = series or Series(self.n_nights)
        verdict = FAIL if excluded else series.verdict[night]
        attempts = [FAIL, verdict] if series.retried[night] else [verdict]
        for attempt, this in enumerate(attempts, 1):
            result, self.next_result = self.next_result, self.next_result + 1
            good, judged = this in (PASS, FLAKY, XPASS), this <= XPASS
            level = (max(promised, SET_REPEATABLE) if series.level[night] is None else series.level[night]) if good else 1
            if good and series.variant[night]:
                digests = (digest(provider, "out", case, series.variant[night]), digest("set", case, 1))
            rows.append((result, *of, series_id, attempt, promised, 1, 1, this, level if judged else None,
                         int(good) if judged else None, 10 if judged else None, wall,
                         round(time * series.factor[night], 2) if good else None, *(digests if good else (None, None)),
                         path if judged else None, "declared" if this in (XFAIL, XPASS) else None,
                         None if this == PASS else f"{VERDICTS[this]}: made up"))
            if this in (FAIL, XFAIL):
                failures.append((result, 0, self.cases[case][4], self.cases[case][3], "1.25 (0x3fa00000)", 900, 2, 2,
                                 "[17, 18]", "[1020, 1021]", "ties at the cut: 2 of 900 equal scores are not the lowest"))
            if judged and not excluded:
                latest[series_id] = result


def make(path, nights=40, cases=240, devices=5, seed=1, plants=8, peer_cases=120):
    """Writes the database; returns the answers, see History.answers."""
    history = History(nights, cases, devices, seed, plants, peer_cases)
    history.plant_all()
    history.write(path)
    return history.answers


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out")
    for name, default in (("nights", 40), ("cases", 240), ("devices", 5), ("seed", 1), ("plants", 8),
                          ("peer-cases", 120)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--answers", help="where to write what was planted, as JSON")
    given = parser.parse_args()
    answers = make(given.out, given.nights, given.cases, given.devices, given.seed, given.plants, given.peer_cases)
    if given.answers:
        pathlib.Path(given.answers).write_text(json.dumps(answers, indent=1), encoding="utf-8")
    print(", ".join(f"{len(found)} {name}" for name, found in answers.items()))


if __name__ == "__main__":
    main()
