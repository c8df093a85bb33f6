# SPDX-License-Identifier: Apache-2.0
# make, on a copy of this checkout and its build folder: a second make runs nothing; a source or a test that is gone, a
# header of a plugin, a list of exported names, what a planted fault carries along, a flag: each is noticed; `make clean`
# with another goal does one after the other.
. "$(dirname "$0")/../expect.sh"
root=$(cd "$(dirname "$0")/../../.." && pwd)
[ "$BUILD" = "$root/build" ] && [ -e "$BUILD/harness/tests/run" ] && [ -e "$BUILD/.objects" ] || { echo "no build folder of make test"; exit 77; }
mkdir 'a copy'
cp -a "$root/Makefile" "$root/harness" "$root/reference" "$root/kernels" "$root/cases" "$root/registry" 'a copy/'
mkdir 'a copy/build'
(cd "$BUILD" && cp -a topkcts backends code_objects harness reference kernels cases .flags .objects .packages-* "$OLDPWD/a copy/build/")
cd 'a copy' || fail "no copy"
made() { # TARGET..: what make runs, as its lines
    make -j2 BUILD=build NO_INSTALL=1 "$@" >made.txt 2>&1 || { cat made.txt; fail "make $*"; }
}
runs() { grep -q "$1" made.txt || { cat made.txt; fail "make did not run: $1"; }; }
tests=build/harness/tests/run
plugin=build/harness/tests/plugins/takes_two_ms.so

made all $tests $plugin
made all $tests $plugin
grep -E '^(cc|c\+\+|sim|so|link|cuda|hip|aot) ' made.txt && fail "a second make builds something"

# The folder that runs elsewhere, from a machine whose compilers know no GPU.
rm -f build/code_objects/topk_v1.*
made portable AOT_TARGETS=
runs "no code object of v1"
build/portable/topkcts/topkcts list >made.txt 2>&1 || { cat made.txt; fail "the portable program does not run"; }

rm harness/tests/shard_test.c
made $tests
runs "link  $tests"
$tests --list | grep -q '^shard' && fail "tests of a file that is gone are still there"
touch harness/tests/plugins/takes_as_long.h
made $plugin
runs "so    harness/tests/plugins/takes_two_ms.c"
touch kernels/faulty/host_topk.c
made build/kernels/faulty/hang_empty_row.o
runs "cc    kernels/faulty/hang_empty_row.c"
touch kernels/simulator/exported.list
made build/topkcts
runs "link  build/topkcts"
made REFERENCE_FLAGS=-ffp-contract=on build/reference/reference.o
runs "cc    reference/reference.c"
# Where no compiler knows a GPU that must be there, the gate asks for none.
make -n BUILD=build NO_INSTALL=1 gate GATE_TARGETS= >made.txt 2>&1
runs "topkcts code-objects"
grep -q -e --targets made.txt && fail "the gate asks for targets without a name"
made clean build/harness/status.o
[ -e build/harness/status.o ] || fail "what was to be built behind clean is not there"
[ ! -e build/topkcts ] || fail "clean left the program"
exit 0
