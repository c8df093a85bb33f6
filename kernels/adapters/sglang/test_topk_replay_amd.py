# SPDX-License-Identifier: Apache-2.0
"""The 21 cases of sgl-project/sglang#34591, on every change of a JIT kernel.

Belongs into test/registered/kernel/dsa/ of SGLang; TOPKCTS_HOME names the checkout of topkcts. The estimate is that of
`topkcts query suggest-est`. See topkcts_nightly.py for what this file promises the runner.
"""
import os
import sys

from sglang.test.ci.ci_register import register_amd_ci

register_amd_ci(est_time=60, suite="jit-kernel-unit-test-amd")

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(os.environ["TOPKCTS_HOME"], "kernels/adapters/sglang") if "TOPKCTS_HOME" in os.environ else HERE

if __name__ == "__main__":
    sys.path.insert(0, FOLDER)
    import topkcts_nightly

    topkcts_nightly.main(name="topk-replay-amd", suite="jit-kernel-unit-test-amd", minimum=21, budget_seconds=300,
                         provider="process:python3 " + os.path.join(FOLDER, "sglang_topk_paged.py"))
