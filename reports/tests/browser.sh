# SPDX-License-Identifier: Apache-2.0
# The pages in a real browser, light and dark; skipped where there is none: `make report-tools` installs one.
tests=$(cd "$(dirname "$0")" && pwd)
# Debian's packages belong to Debian's Python, which need not be the first in the path.
for python in python3 /usr/bin/python3; do
    "$python" -c 'import selenium, jinja2, plotly' 2>/dev/null && exec "$python" "$tests/browser_test.py"
done
exec python3 "$tests/browser_test.py"
