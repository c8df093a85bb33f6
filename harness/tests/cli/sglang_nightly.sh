#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The registered test files for SGLang's CI, collected and run by the CI code of the sglang package of PyPI. The package
# is fetched once (without what it depends on) and kept in the build folder; TOPKCTS_SGLANG names an unpacked one.
set -eu
home=$(cd "$(dirname "$0")/../../.." && pwd)
version=0.5.23
package=${TOPKCTS_SGLANG:-$BUILD/sglang-$version}
if [ ! -e "$package/sglang/test/ci/ci_register.py" ]; then
    python3 -m pip download --quiet --no-deps --dest wheel "sglang==$version" || { echo "sglang $version cannot be fetched from the package index; TOPKCTS_SGLANG names an unpacked one"; exit 1; }
    mkdir -p "$package"
    python3 -m zipfile -e wheel/sglang-*.whl unpacked
    mkdir -p "$package/sglang/test"
    cp -r unpacked/sglang/test/ci "$package/sglang/test/"
fi
# The files find the program of this build folder where a checkout has it.
[ "$TOPKCTS" -ef "$home/build/topkcts" ] || { mkdir -p checkout/build; for f in registry kernels reports; do ln -s "$home/$f" checkout/$f; done; cp "$TOPKCTS" checkout/build/; home=$(pwd)/checkout; }
python3 "$home/kernels/adapters/tests/sglang_registry.py" "$package" "$home" "$BUILD/harness/tests/plugins"
