# SPDX-License-Identifier: Apache-2.0
# Reports and the table of what covers them: written by an update, compared by check, every mistake named with its line.
. "$(dirname "$0")/../expect.sh"
root=$(cd "$(dirname "$0")/../../.." && pwd)
mkdir -p project/build project/registry/cases
cp "$root/registry/faults.yaml" project/registry/
printf -- '- {id: conformance, summary: all of it, budget_seconds: 60}\n' >project/registry/suites.yaml
cp "$TOPKCTS" project/build/
TOPKCTS=$PWD/project/build/topkcts
table=project/registry/reports.md

family() {
    cat >"project/registry/cases/$1.yaml" <<YAML
- id: $1
  summary: rows of several lengths
  fault: short-row
  source: $2
  generator: random
  matrix: {topk: [512, 7], length: [600]}
  suites: {conformance: all}
YAML
}
good() {
    cat >project/registry/reports.yaml <<'YAML'
- report: owner/project#1
  date: 2026-08-12
  kinds: [short-row, tie-break]
  what: Short rows | are wrong.
  covered_by: ["my-rows/topk=512,*", faulty/short-row-tail]
- report: owner/project#2
  post: review
  also: [other/project#7]
  kinds: [short-row]
  what: Two issues tell the same.
- report: owner/project#2
  post: comment
  what: Somebody's build failed.
  why_not: no input is involved
YAML
}

# Without a list of reports there is no table.
family my-rows "owner/project#1, other/project#7"
expect 0 "$TOPKCTS" check --update
[ ! -e $table ] || fail "a table of nothing"
good
expect 2 "$TOPKCTS" check
says "reports.md"
says "check --update"
expect 0 "$TOPKCTS" check --update
prints "reports.md written"
expect 0 "$TOPKCTS" check
has() {
    grep -qF -- "$1" $table || fail "the table lacks '$1': $(cat $table)"
}
has "3 reports: 2 covered, 0 in part, 1 not."
has "[owner/project#1](https://github.com/owner/project/issues/1) | 2026-08-12 | short-row, tie-break | Short rows \\| are wrong. | [my-rows](cases/my-rows.yaml), \`my-rows/topk=512,*\`, \`faulty/short-row-tail\` |"
has "[owner/project#2](https://github.com/owner/project/issues/2) (review), [other/project#7]"
has "not: no input is involved"

# A table that is not current is named with the line that differs.
cp $table whole.md
sed -i '11s/.*/changed by hand/' $table
expect 2 "$TOPKCTS" check
says "$table:11: "
head -n 5 whole.md >$table
expect 2 "$TOPKCTS" check
says "$table:6: "
{ cat whole.md; echo more; } >$table
expect 2 "$TOPKCTS" check
says "$table:$(($(wc -l <whole.md) + 1)): "
expect 0 "$TOPKCTS" check --update
cmp -s $table whole.md || fail "an update makes another table of the same"

# One more family takes one more file: a report with an entry gets it, one without is listed with a note.
family my-others "owner/project#1, new/project#9"
expect 0 "$TOPKCTS" check --update
says "cases/my-others.yaml:1: source new/project#9"
has "[my-others](cases/my-others.yaml), [my-rows](cases/my-rows.yaml), "
has "| [new/project#9](https://github.com/new/project/issues/9) | [my-others](cases/my-others.yaml) |"
expect 0 "$TOPKCTS" check
says "note: "
rm project/registry/cases/my-others.yaml
expect 0 "$TOPKCTS" check --update

mistake() {
    expect 2 "$TOPKCTS" check
    says "reports.yaml:$1: "
    says "$2"
    cp $table before.md
    expect 2 "$TOPKCTS" check --update
    cmp -s $table before.md || fail "an update with mistakes writes"
}
edit() {
    good
    sed -i "$1" project/registry/reports.yaml
}
edit 's/my-rows/my-row/';               mistake 1 "no family 'my-row'"
edit 's/topk=512/topk=513/';            mistake 1 "matches no case"
edit 's/short-row-tail/short-row-tale/'; mistake 1 "no planted fault"
edit 's/short-row-tail/nan-sign/';      mistake 1 "not among the report's kinds"
edit '1s/#1/#3/';                       mistake 1 "registry/cases/my-rows.yaml:1) does not name owner/project#3"
edit '/  also:/d';                      mistake 6 "nothing covers owner/project#2"
edit 's/short-row, /short-rows, /';     mistake 3 "declared are"
edit 's/2026-08-12/last August/';       mistake 2 "is no date"
edit 's/2026-08-12/2026-13-12/';        mistake 2 "is no date"
edit '1s/#1/ 1/';                       mistake 1 "owner/repo#123"
edit 's/post: comment/post: review/';   mistake 11 "has an entry already, in line 6"
edit 's/other.project#7/owner\/project#1/; 7d'; mistake 7 "has an entry already, in line 1"
edit 's/  what: Two.*/  what: ""/';     mistake 10 "what"
edit '/  what: Two/d';                  mistake 6 "lacks the required key 'what'"
edit 's/why_not/why/';                  mistake 14 "accepted are report"
edit 's/covered_by: .*/covered_by: my-rows/'; mistake 5 "covered_by"
: >project/registry/reports.yaml;       mistake 1 "empty"
exit 0
