# SPDX-License-Identifier: Apache-2.0
# Registry files that are no registry files: broken, torn, hostile YAML. Each is refused within seconds, by file and
# place, and none is believed in part.
. "$(dirname "$0")/../expect.sh"
mkdir -p mine/cases
file=mine/cases/mine.yaml
good() {
    cat <<'YAML'
- id: my-rows
  summary: rows of several lengths
  fault: short-row
  generator: random
  matrix: {topk: [512], length: [600]}
YAML
}
refused() { # TEXT: the file is refused, with this in the message
    expect 2 timeout 20 "$TOPKCTS" check --registry mine
    says "$file"
    says "$1"
    [ "$(echo "$err" | wc -l)" -le 2 ] || fail "more than the message"
}

good >$file
expect 0 "$TOPKCTS" list my-rows --registry mine
sed 's/$/\r/' $file >crlf && mv crlf $file
expect 0 "$TOPKCTS" list my-rows --registry mine
{ printf '\357\273\277' && good; } >$file
expect 0 "$TOPKCTS" list my-rows --registry mine

{ good && echo '---' && good | sed 's/my-rows/my-others/'; } >$file
refused "$file:6: a second document"
{ good && echo '...' && echo '{{{'; } >$file
refused "not YAML"
good | sed 's/  fault/\tfault/' >$file
refused "$file:3: not YAML"
good | sed 's/rows of/rows \xff of/' >$file
refused "UTF-8 is accepted"
good | sed 's/: rows of.*/: "rows\\0of"/' >$file
refused "$file:2: a text with a NUL"
good | sed 's/topk:/? [topk]\n:/' >$file
refused "$file"
{ echo '- &a'; good | sed 's/^- /  /; s/^  id/  id/'; echo '- *a'; } >$file
refused "is taken"
echo '&a [*a]' >$file
refused "nested more than"
echo '- *nobody' >$file
refused "undefined alias"
{
    echo 'a: &a [x, x, x, x, x, x, x, x, x, x]'
    for pair in ba cb dc ed fe gf hg ih; do
        echo "$pair: &${pair%?} [*${pair#?}, *${pair#?}, *${pair#?}, *${pair#?}, *${pair#?}, *${pair#?}, *${pair#?}, *${pair#?}, *${pair#?}]"
    done
} >$file
refused "aliases (*name) written out"
awk 'BEGIN { for (i = 0; i < 100000; i++) printf "["; }' >$file
refused "$file"
awk 'BEGIN { for (i = 0; i < 900; i++) printf "["; for (i = 0; i < 900; i++) printf "]"; }' >$file
refused "nested more than"
awk 'BEGIN { for (i = 0; i < 50000; i++) print "k" i ": 1"; }' >$file
refused "more than 1000 keys"
awk 'BEGIN { for (i = 0; i < 700000; i++) print "- abcdefghij"; }' >$file
refused "bytes; a registry file has at most"
good | sed 's/\[600\]/[99999999999999999999]/' >$file
refused "not a whole number"
good | sed 's/\[600\]/[-1]/' >$file
refused "out of range"
good | sed 's/\[600\]/["600"]/' >$file
refused "not a whole number"

rm $file
mkdir $file
refused "is a folder"
rmdir $file
ln -s mine.yaml $file
refused "symbolic links"
ln -sf /nonexistent $file
refused "No such file"
rm $file
mkfifo $file
refused "is a named pipe"
exit 0
