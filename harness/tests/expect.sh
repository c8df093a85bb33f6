# SPDX-License-Identifier: Apache-2.0
# What the scripts in cli/ say about the program. Sourced, not run.
#
#     expect CODE COMMAND...        runs it; fails the script unless it exits with CODE. Output: $out (stdout), $err
#     says TEXT                     fails unless the last stderr holds TEXT
#     prints TEXT                   the same for stdout
#     query DB SQL                  one value from a database
out=""
err=""

fail() {
    echo "FAILED: $*"
    echo "--- stdout"
    echo "$out" | tail -n 30
    echo "--- stderr"
    echo "$err" | tail -n 30
    exit 1
}

expect() {
    wanted=$1
    shift
    "$@" >expect.out 2>expect.err
    code=$?
    out=$(cat expect.out)
    err=$(cat expect.err)
    [ "$code" = "$wanted" ] || fail "exit $code instead of $wanted: $*"
}

says() {
    case $err in *"$1"*) ;; *) fail "stderr does not say: $1" ;; esac
}

prints() {
    case $out in *"$1"*) ;; *) fail "stdout does not say: $1" ;; esac
}

query() {
    sqlite3 "$1" "$2"
}
