# SPDX-License-Identifier: Apache-2.0
# Databases that cannot be kept: exit 3, the reason, and nothing that was stored is lost.
. "$(dirname "$0")/../expect.sh"

try() {
    expect "$1" "$TOPKCTS" run 'ragged-rows' --provider reference --db "$2"
    [ -z "${3:-}" ] || says "$3"
}
try 0 good.db
before=$(query good.db "select count(*) from results")
try 0 good.db
[ "$(query good.db "select count(*) from results")" = $((2 * before)) ] || fail "a second run did not add to the first"
[ "$(query good.db "select count(*) from latest")" = "$before" ] || fail "latest does not hold one row a series"

echo "this is no database" >text.db
try 3 text.db "text.db"
[ "$(cat text.db)" = "this is no database" ] || fail "a foreign file was changed"
sqlite3 foreign.db "create table t (x); insert into t values (1)"
try 3 foreign.db "foreign.db"
[ "$(query foreign.db "select x from t")" = 1 ] || fail "a foreign database was changed"
cp good.db newer.db
sqlite3 newer.db "pragma user_version = 999"
try 3 newer.db "newer"
try 3 /no/such/folder/x.db "/no/such/folder/x.db"
mkdir a-folder.db
try 3 a-folder.db "a-folder.db"

# A full disk in mid-run: exit 3, and what was stored can be read.
(ulimit -f 120; "$TOPKCTS" run --suite conformance --provider reference --db full.db >full.out 2>full.err)
code=$?
[ "$code" = 3 ] || fail "a full disk ends with exit $code"
err=$(cat full.err)
says "full.db"
exit 0
