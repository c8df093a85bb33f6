# SPDX-License-Identifier: Apache-2.0
"""The registered files, in the hands of SGLang's own CI code.

    python3 sglang_registry.py WHEEL_FOLDER TOPKCTS_HOME PLUGINS

WHEEL_FOLDER holds sglang/test/ci/ of the package. The collector, the partitioner and the runner of the package are used
as they are; only what they import from the rest of SGLang (torch and a GPU) is replaced: killing a process tree and
core dumps of CUDA. Exits 1 with a message at the first thing that is not as promised.
"""
import io
import logging
import os
import pathlib
import subprocess
import sys
import tempfile
import types

wheel, home, plugins = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
files = sorted(str(path) for path in (home / "kernels/adapters/sglang").glob("test_*.py"))


def load_package():
    """sglang.test.ci, without the __init__ of sglang, which wants torch."""
    for name in ("sglang", "sglang.test", "sglang.srt", "sglang.srt.utils", "sglang.srt.debug_utils"):
        module = types.ModuleType(name)
        module.__path__ = [str(wheel / name.replace(".", "/"))]
        sys.modules[name] = module
    coredump = types.ModuleType("sglang.srt.debug_utils.cuda_coredump")
    coredump.is_enabled = lambda: False
    sys.modules[coredump.__name__] = sys.modules["sglang.srt.debug_utils"].cuda_coredump = coredump
    common = types.ModuleType("sglang.srt.utils.common")
    common.kill_process_tree = lambda pid: subprocess.run(["kill", "-KILL", str(pid)], check=False)
    sys.modules[common.__name__] = common
    from sglang.test.ci import ci_register, ci_utils
    return ci_register, ci_utils


ci_register, ci_utils = load_package()


def check(condition, text):
    if not condition:
        sys.exit(f"sglang_registry: {text}")


# ---- collecting ----------------------------------------------------------------------------------------------------
tests = ci_register.collect_tests(files)
found = {(test.backend.name, test.effective_suite, test.nightly): test for test in tests}
check(set(found) == {("AMD", "jit-kernel-unit-test-amd", False), ("AMD", "nightly-amd-kernel-1-gpu", True)},
      f"registered are {sorted(found)}")
check(all(test.disabled is None for test in tests), "a registration is disabled")
nightly = found[("AMD", "nightly-amd-kernel-1-gpu", True)]
check(nightly.est_time <= 780, f"the nightly estimate {nightly.est_time} s is above its own budget")
check(sum(len(ci_register.auto_partition(tests, rank, 2)) for rank in range(2)) == len(tests), "a partition loses files")


# ---- running -------------------------------------------------------------------------------------------------------
def run(test, **environment):
    """(exit code, output) as the package's runner starts a file, then its verdict on a retry."""
    with tempfile.TemporaryDirectory() as output:
        stubs = pathlib.Path(output, "stubs/sglang/test/ci")
        stubs.mkdir(parents=True)
        for folder in (stubs, stubs.parent, stubs.parent.parent):
            (folder / "__init__.py").touch()
        (stubs / "ci_register.py").write_bytes((wheel / "sglang/test/ci/ci_register.py").read_bytes())
        os.environ.update({"TOPKCTS_HOME": str(home), "TOPKCTS_OUTPUT": output, "TOPKCTS_SUITE": "smoke",
                           "TOPKCTS_DEVICE": "host", "TOPKCTS_MINIMUM": "50",
                           "PYTHONPATH": str(pathlib.Path(output, "stubs")),
                           "GITHUB_STEP_SUMMARY": str(pathlib.Path(output, "summary.md")), **environment})
        done = subprocess.run(["python3", test.filename, "-f"], capture_output=True, text=True, check=False)
        log = io.StringIO()
        handler = logging.StreamHandler(log)
        ci_utils.logger.addHandler(handler)
        verdict = ci_utils.run_unittest_files([test], timeout_per_file=120, enable_retry=True, retry_wait_seconds=0)
        ci_utils.logger.removeHandler(handler)
        summary = pathlib.Path(output, "summary.md")
        text = done.stdout + done.stderr
        check(text.count("\n") == 1, f"the output is not one line: {text!r}")
        check(not ci_utils.is_retriable_failure(text)[0], f"{text!r} would be tried again")
        check(ci_utils.is_retriable_failure(text)[1] == "unknown failure type", f"{text!r} is not neutral")
        check("[CI Retry]" not in log.getvalue() or "not retrying" in log.getvalue(), "the runner tried again")
        check((verdict == 0) == (done.returncode == 0), f"the runner says {verdict}, the file {done.returncode}")
        return done.returncode, text, summary.exists() and summary.read_text()


for test in tests:
    status, text, summary = run(test, TOPKCTS_PROVIDER="reference")
    n = text.split(" GREEN, ")[-1].split()
    check(status == 0 and "GREEN" in text and n[0] == n[2], f"a correct provider: {status} {text}")
    check(summary and "reference" in summary, f"no step summary: {summary!r}")
nightly_file = nightly
status, text, _ = run(nightly_file, TOPKCTS_PROVIDER="reference", TOPKCTS_MINIMUM="500")
check(status == 1 and "fewer than the 500" in text, f"too few cases: {status} {text}")
status, text, _ = run(nightly_file, TOPKCTS_PROVIDER="faulty/tie-highest")
check(status == 1 and "RED" in text, f"a wrong provider: {status} {text}")
status, text, _ = run(nightly_file, TOPKCTS_PROVIDER=str(plugins / "crash_on_launch.so"))
check(status == 1 and "RED" in text, f"a provider that crashes: {status} {text}")
status, text, _ = run(nightly_file, TOPKCTS_PROVIDER="no-such-provider")
check(status == 1 and "0 of 0" in text, f"no provider: {status} {text}")
status, text, _ = run(nightly_file, TOPKCTS_PROVIDER="reference", TOPKCTS_DEVICE="hip:0")
check(status == 1 and "RED" in text, f"no device: {status} {text}")
