#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every planted host fault, as suite meta finds it, is made small: in under a minute, to at most two rows and twice the
# smallest length the fault allows; the case fails for the fault and passes for the reference; the program shows the fault
# with the fault linked in and is content with a right plugin. `make shrink` runs it; it takes minutes.
#
#     shrink_faults.sh [FAULT ...]      only these, as faulty/tie-highest

set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
BUILD=$(cd "${BUILD:-$root/build}" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
exec python3 - "$BUILD" "$root" "$@" <<'END'
import json, os, subprocess, sys, time

build, root, only = sys.argv[1], sys.argv[2], sys.argv[3:]
program = build + '/topkcts'
# Rows and lengths below which the fault cannot show, where that is more than 2 of each: kernels/faulty says why.
LENGTHS = {'nan-duplicates': 3, 'key-mismatch-pivot': 1025, 'offset-overflow-index': 65537, 'overflow-2048': 2049,
           'overflow-4096': 4097, 'read-past-end-crash': 513, 'tie-rule': 8193, 'tie-rule-shards': 2048, 'topk-limit-256': 257,
           'topk-limit-512': 513, 'topk-limit-600': 601, 'topk-limit-801': 802, 'underfill-1024': 1026,
           'underfill-plateau': 258}
# Row 31 is wrong, batches of 32 are; and 4194304 elements are 5 rows of the widest stride that a case may have.
ROWS = {'batch-dependence-lane': 32, 'batch-dependence-tie': 32, 'offset-overflow-row': 5}


def run(*words, **more):
    return subprocess.run(words, capture_output=True, text=True, **more)


def look(name):
    short, symbol = name[7:], name[7:].replace('-', '_')
    run(program, 'run', '--suite', 'meta', '--provider', name, '--device', 'host', '--db', short + '.db')
    found = run('sqlite3', short + '.db', "select run, case_name from results where verdict in ('fail', 'crash', 'timeout')"
                " order by length * batch limit 1").stdout.strip()
    if not found:
        return 'suite meta has no failure of it'
    number, case = found.split('|')
    began = time.time()
    answer = run(program, 'shrink', case, '--db', short + '.db', '--run', number, '--into', 'small', '--json')
    seconds = time.time() - began
    if answer.returncode:
        return answer.stderr.strip()
    small = json.loads(answer.stdout)
    wrong = []
    if seconds > 60:
        wrong.append('took %.0f s' % seconds)
    if small['rows'] > max(2, ROWS.get(short, 0)) or small['longest'] > 2 * LENGTHS.get(short, 2):
        wrong.append('is not small')
    for provider, code in ((name, 1), ('reference', 0)):
        if run(program, 'run', small['case'], '--registry', 'small', '--provider', provider, '--db', 'x.db').returncode != code:
            wrong.append('%s does not exit %d in the registry' % (provider, code))
    source = os.path.abspath(small['program'])
    compiled = run('gcc', '-std=gnu17', '-I.', '-Iharness', '-DTOPK_BUILTIN=builtin_faulty_' + symbol, '-o', scratch + '/fault',
                   source, 'kernels/faulty/%s.c' % symbol, 'kernels/faulty/host_topk.c', '-ldl', cwd=root)
    if compiled.returncode or run('./fault').returncode != 1:
        wrong.append('the program does not show it')
    compiled = run('gcc', '-std=gnu17', '-Iharness', '-o', scratch + '/right', source, '-ldl', cwd=root)
    if compiled.returncode or run('./right', build + '/harness/tests/plugins/correct.so').returncode != 0:
        wrong.append('the program finds a fault in a right plugin')
    print('%-5s %-28s %5.1f s  %d rows of %d, topk %d, after %d  %d attempts  %s' % (
        'WRONG' if wrong else 'ok', short, seconds, small['rows'], small['longest'], small['topk'], small['launches_before'],
        small['attempts'], '; '.join(wrong)), flush=True)
    return None if not wrong else ''


scratch, bad, good = os.getcwd(), 0, 0
names = [p['provider'] for p in json.loads(run(program, 'providers', '--json').stdout)
         if p['provider'].startswith('faulty/') and p['device'] == 'host']
for name in only or names:
    cause = look(name)
    good += cause is None
    bad += cause is not None
    if cause:
        print('WRONG %-28s %s' % (name[7:], cause), flush=True)
print('%d passed, %d failed' % (good, bad))
sys.exit(bad != 0 or good == 0)
END
