# SPDX-License-Identifier: Apache-2.0
# A run judges the cases it planned, whatever becomes of the registry's files under way: workers are told their cases
# and read no registry. Before, this run stopped in its middle, and an edited file gave a worker other cases than the
# plan had.
. "$(dirname "$0")/../expect.sh"
mkdir -p mine/cases elsewhere
cat >mine/cases/moved.yaml <<'END'
- id: moved
  summary: ragged rows whose file is gone when they run
  fault: tie-break
  generator: ties
  params: {distinct: 2}
  matrix: {topk: [7, 64], length: [{ragged: [5, 300, 4096]}], page_size: [1, 64], outputs: [page, raw]}
  seed: 3
END
# Loaded first to be asked who it is, when the registry has been read; its constructor then takes the files away.
root=$(cd "$(dirname "$0")/../../.." && pwd)
cat >moves.c <<'END'
#include <stdio.h>
#include <unistd.h>
__attribute__((constructor)) static void move(void)
{
    rename("mine", "gone");
    if (chdir("elsewhere"))
        perror("elsewhere");
}
#include "template.c"
END
gcc -shared -fPIC -I "$root/harness" -I "$root/kernels/plugin" -o moves.so moves.c || fail "the plugin does not compile"
expect 0 "$TOPKCTS" run moved --provider "$PWD/moves.so" --registry mine --jobs 2 --db m.db
[ -d gone ] && [ ! -d mine ] || fail "the plugin took nothing away, so this tests nothing"
[ "$(query m.db "select count(*), count(distinct case_name) from results where verdict = 'pass'")" = "6|6" ] ||
    fail "$(query m.db "select case_name, verdict, reason from results")"
