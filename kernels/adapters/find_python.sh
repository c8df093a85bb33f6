# SPDX-License-Identifier: Apache-2.0
# Finds a Python with NumPy for the tests of adapters. Sourced, not run; $root is the project. Sets $python, $adapters.
python=
for candidate in ${PYTHON:-} python3 /usr/bin/python3; do
    if "$candidate" -c 'import numpy' 2>/dev/null; then
        python=$candidate
        break
    fi
done
[ -n "$python" ] || { echo "FAILED: no Python with NumPy; install python3-numpy"; exit 1; }
adapters=$root/kernels/adapters
