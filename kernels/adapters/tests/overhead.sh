# SPDX-License-Identifier: Apache-2.0
# What a process costs: it starts once for all the cases of a worker, and a launch takes less than a millisecond beyond
# the copies, judging included.
root=$(cd "$(dirname "$0")/../../.." && pwd)
. "$root/harness/tests/expect.sh"
. "$root/kernels/adapters/find_python.sh"
cat >instant.py <<'PY'
import os
import numpy
import topkcts_adapter
with open("starts", "a") as file:
    file.write("%d\n" % os.getpid())
raw = numpy.zeros((4096, 2048), numpy.int32)
def select(scores, seq_lens, page_table, page_size, topk):
    return None, raw[:scores.shape[0], :topk]
topkcts_adapter.serve(select, name="instant", version="1", claims={"level": "safe", "tie": "any", "outputs": "raw"})
PY
expect 0 "$TOPKCTS" run repeat-determinism --repeat 2000 --provider "process:$python instant.py" --db fast.db --jobs 1
n=$(query fast.db "select count(*) from results where repeats >= 2000 and verdict = 'pass'")
[ "$n" -ge 2 ] || fail "$n cases were judged"
# The quickest case counts: the machine may be busy with something else.
[ "$(query fast.db "select min(wall_ms / repeats) < 1 from results where verdict = 'pass'")" = 1 ] ||
    fail "a launch takes $(query fast.db "select min(wall_ms / repeats) from results where verdict = 'pass'") ms"
# Once to say who it is, once for the one worker.
[ "$(sort -u starts | wc -l)" -eq 2 ] || fail "it was started $(wc -l <starts) times for $n cases"
exit 0
