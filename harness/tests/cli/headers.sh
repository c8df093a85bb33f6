# SPDX-License-Identifier: Apache-2.0
# Every header compiles alone, without a warning: those of the harness, the cases and the reference as C17, those of
# kernels/ as C++17, and as C17 too where a C file includes them. harness/provider.h keeps to the letter of both. Left out
# are pieces of another header, which say so ("Part of device.h"), and gpu_names.h, which wants a toolkit.
. "$(dirname "$0")/../expect.sh"
root=$(cd "$(dirname "$0")/../../.." && pwd)
warnings="-Wall -Wextra -Werror -fsyntax-only -D_GNU_SOURCE -I."
cc=${CC:-gcc}
cxx=${CXX:-g++}

# shellcheck disable=SC2086
as_c() { "$cc" -std=gnu17 $warnings -x c "$@"; }
# shellcheck disable=SC2086
as_cxx() { "$cxx" -std=gnu++17 $warnings -Iharness -Ikernels/simulator/include -x c++ "$@"; }

# One that lacks an include is seen, in either language.
echo 'static inline size_t twice(size_t n) { return 2 * n; }' >lacks_stddef.h
expect 1 as_c "$PWD/lacks_stddef.h"
says "unknown type name"
expect 1 as_cxx "$PWD/lacks_stddef.h"
says "does not name a type"

scratch=$PWD
cd "$root" || exit 1
c_headers=$(find harness reference cases -name '*.h' ! -path '*/tests/*' ! -name gpu_names.h)
included=$(find harness reference cases kernels -name '*.c' -exec grep -hE '^#include "kernels/' {} + | cut -d '"' -f 2 | sort -u)
cxx_headers=$(find kernels -name '*.h' ! -path '*/tests/*' ! -path '*/adapters/*' -exec grep -L 'Part of device\.h\|^ \* device\.h\.' {} +)
[ "$(echo "$c_headers" | wc -l)" -gt 80 ] || fail "only these headers of the harness were found: $c_headers"
[ "$(echo "$cxx_headers" | wc -l)" -gt 25 ] || fail "only these headers of kernels/ were found: $cxx_headers"
for header in $included; do
    [ -e "$header" ] || fail "$header is included and not there"
done
cd "$scratch" || exit 1

from_root() { (cd "$root" && "$@"); }
# shellcheck disable=SC2086
expect 0 from_root as_c $c_headers $included
# shellcheck disable=SC2086
expect 0 from_root as_cxx $cxx_headers
# The host part of a runtime is there for plugins.
expect 0 from_root as_cxx -DTOPKCTS_WATCHED kernels/simulator/device.h kernels/adapters/gpu_plugin.h
expect 0 "$cc" -std=c17 -pedantic-errors -Wall -Wextra -Werror -fsyntax-only -x c "$root/harness/provider.h"
expect 0 "$cxx" -std=c++17 -pedantic-errors -Wall -Wextra -Werror -fsyntax-only -x c++ "$root/harness/provider.h"
