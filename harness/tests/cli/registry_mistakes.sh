# SPDX-License-Identifier: Apache-2.0
# A registry of one's own beside the project's: what is right is taken, every mistake is named by file, line, key and
# what is accepted.
. "$(dirname "$0")/../expect.sh"

write() {
    mkdir -p mine/cases
    cat >mine/cases/mine.yaml
}
good() {
    write <<'YAML'
- id: my-ties
  summary: equal scores straddle place topk
  fault: tie-break
  generator: ties
  params: {distinct: 2, boundary: inside-plateau}
  matrix:
    topk: [1, 512]
    length: [1025, {ragged: [0, 600, 1025]}]
    page_size: [1, 64]
    outputs: [page, raw]
  suites: {conformance: all, smoke: {topk: [512], length: [1025]}}
YAML
}

good
expect 0 "$TOPKCTS" list my-ties --registry mine
prints "my-ties/topk=512,length=1025,page_size=64,batch=1,outputs="
prints "length=0+600+1025"
prints "batch=3"
says "hashes.txt is not there"
expect 0 "$TOPKCTS" run my-ties --registry mine --provider reference --db mine.db
expect 1 "$TOPKCTS" run my-ties --registry mine --provider faulty/tie-highest --db mine.db
prints "rerun: topkcts run"
prints "--registry mine"
expect 0 "$TOPKCTS" check --registry mine

mistake() {
    expect 2 "$TOPKCTS" check --registry mine
    says "mine/cases/mine.yaml:$1"
    says "$2"
}
edit() {
    good
    sed -i "$1" mine/cases/mine.yaml
}
edit 's/  summary:/  sumary:/';             mistake 2 "accepted are id, summary"
edit '/  summary:/d';                       mistake 1 "lacks the required key 'summary'"
edit 's/tie-break/tie-brake/';              mistake 3 "declared are"
edit 's/generator: ties/generator: tied/';  mistake 4 "there are"
edit 's/distinct: 2/distinct: two/';        mistake 5 "distinct"
edit 's/distinct: 2/distnct: 2/';           mistake 5 "no parameter 'distnct'"
edit 's/inside-plateau/inside/';            mistake 5 "accepted"
edit 's/topk: \[1, 512\]/topk: [0, 512]/';  mistake 7 "out of range"
edit 's/topk: \[1, 512\]/topk: [1, 1]/';    mistake 7 "twice"
edit 's/topk: \[1, 512\]/topk: []/';        mistake 7 "at least one value"
edit 's/topk: \[1, 512\]/topk: [x]/';       mistake 7 "not a whole number"
edit 's/page_size: \[1, 64\]/page_size: [3]/'; mistake 9 "power of two"
edit 's/outputs: \[page, raw\]/outputs: [pages]/'; mistake 10 "page+raw"
edit 's/conformance: all/conformence: all/'; mistake 11 "there are"
edit 's/topk: \[512\], length/topk: [7], length/'; mistake 11 "no value of the axis"
edit '/    length:/d';                      mistake 6 "lacks the axis 'length'"
edit 's/  fault: tie-break/  fault: tie-break\n  fault: tie-break/'; mistake 4 "stands here twice"
edit 's/my-ties/boundary-ties/';            mistake 1 "is taken"
edit 's/my-ties/My Ties/';                  mistake 1 "no slug"
edit 's/  suites:/  sweep: [{axis: page_size, from: 1, to: 8}]\n  suites:/'; mistake 11 "topk, length, batch"
edit 's/  suites:/  sweep: [{axis: topk, from: 9, to: 8}]\n  suites:/'; mistake 11 "9"
edit 's/  suites:/  sweep: [{axis: topk, from: 9}]\n  suites:/'; mistake 11 "to"
edit 's/  suites:/  sweep: 5\n  suites:/';  mistake 11 "sweep"
# Several at once: every one is named, of one file and of others.
good
cp mine/cases/mine.yaml mine/cases/third.yaml
sed -i 's/my-ties/third-ties/; s/distinct: 2/distinct: two/' mine/cases/third.yaml
{ sed 's/my-ties/first-ties/; s/tie-break/tie-brake/' mine/cases/mine.yaml
  sed 's/my-ties/second-ties/; s/topk: \[1, 512\]/topk: [x]/' mine/cases/mine.yaml; } >mine/cases/two.yaml
mkdir mine/expected
printf -- '- {case: a}\n- {case: b}\n' >mine/expected/some.yaml
printf -- '- {device_id: x}\n' >mine/fleet.yaml
expect 2 "$TOPKCTS" check --registry mine
for place in cases/two.yaml:3 cases/two.yaml:18 cases/third.yaml:5 expected/some.yaml:1 expected/some.yaml:2 fleet.yaml:1; do
    says "error: mine/$place"
done
says "the registry has 6 mistakes"
expect 2 "$TOPKCTS" list --registry mine
says "mine/cases/third.yaml:5"
says "this is the first of 6 mistakes, topkcts check lists them"
rm -r mine/expected mine/fleet.yaml mine/cases/two.yaml mine/cases/third.yaml
printf '' | write;                          mistake 1 "empty"
printf '[]' | write;                        mistake 1 "no family"
printf -- '- id: x\n  summary: [' | write;  mistake 3 "not YAML"
rm -r mine
mkdir mine
expect 2 "$TOPKCTS" check --registry mine
says "no case families"

# The bounds of the project's suites are for its own cases: however many of one's own, they are no mistake.
good
sed -i 's/    topk: .*/    topk: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 512]/' mine/cases/mine.yaml
sed -i 's/  matrix:/  matrix:\n    combine: product/' mine/cases/mine.yaml
expect 0 "$TOPKCTS" check --registry mine

# A digest that differs is an error of the harness, not a failure of a kernel.
good
"$TOPKCTS" list my-ties --registry mine 2>/dev/null | sed 's/^/00000000000000000000000000000000 /;s/$/ conformance/' >mine/hashes.txt
expect 2 "$TOPKCTS" check --registry mine
says "the file says 00000000000000000000000000000000"
expect 3 "$TOPKCTS" run my-ties --registry mine --provider reference --db digest.db
[ "$(query digest.db "select distinct verdict from results")" = error ] || fail "a wrong digest is not an error"
echo 'no hash line' >mine/hashes.txt
expect 2 "$TOPKCTS" check --registry mine
says "mine/hashes.txt:1"

# A suite that takes longer than it may.
rm mine/hashes.txt
good
sed -i 's/  suites:.*/  suites: {long: all}/; s/length: .*/length: [262144]/; s/topk: .*/topk: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]/' mine/cases/mine.yaml
printf -- '- id: long\n  summary: longer than it may take\n  budget_seconds: 1\n' >mine/suites.yaml
expect 2 "$TOPKCTS" check --registry mine
says "its budget_seconds is 1"
exit 0
