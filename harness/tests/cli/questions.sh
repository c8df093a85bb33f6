#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A made history: the questions in reports/ find everything planted and invent nothing; plain sqlite3 answers, too.
set -eu
reports=$(dirname "$TOPKCTS")/../reports
[ -d "$reports" ] || reports=$(cd "$(dirname "$0")/../../../reports" && pwd)
python3 "$reports/tests/history_test.py" 5 >found || { cat found; exit 1; }

python3 "$reports/tests/make_history.py" made.db --nights 20 --cases 160 --peer-cases 100 --plants 3 >planted
sqlite3 -header made.db ".param set :arch 'gfx1100'" ".read $reports/regressions.sql" >answer
grep -q '^case_name|arch|' answer || { echo "no header:"; cat answer; exit 1; }
sed 1d answer | grep -q '|gfx1100|' || { echo "nothing broke on gfx1100, though it was planted:"; cat answer; exit 1; }
if sed 1d answer | grep -vq '|gfx1100|GPU-'; then echo "arch=gfx1100 let others through:"; cat answer; exit 1; fi

# Every question says what it answers, names its parameters, and uses exactly those.
for file in "$reports"/*.sql; do
    name=$(basename "$file" .sql)
    head -3 "$file" | grep -q "^-- $name: ." || { echo "$file: has no line '-- $name: ...' on top"; exit 1; }
    grep -oE '^-- :[a-z_]+ ' "$file" | tr -d ' -' | sort -u >declared
    sed 's/--.*//' "$file" | grep -oE ':[a-z_]+' | sort -u >used
    diff declared used || { echo "$file: parameters declared (<) and used (>) differ"; exit 1; }
    sqlite3 made.db ".read $file" >/dev/null || { echo "$file: sqlite3 refuses it"; exit 1; }
done
