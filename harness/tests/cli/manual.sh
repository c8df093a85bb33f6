# SPDX-License-Identifier: Apache-2.0
# The man page has every command with every option that its --help has, in the same words, every verdict that the
# database knows and every exit code; groff has nothing to say about it. --help fits a terminal.
. "$(dirname "$0")/../expect.sh"
root=$(cd "$(dirname "$0")/../../.." && pwd)

expect 0 "$TOPKCTS" help --man
cp expect.out page.1
sed 's/\\f[BIR]//g; s/\\-/-/g; s/\\&//g; s/\\e/\\/g' page.1 >page.txt
section() { sed -n "/^\.SH $1\$/,/^\.SH /p" page.txt; }
section COMMANDS >commands.txt
section OPTIONS >options.txt

expect 0 "$TOPKCTS" help
commands=$(echo "$out" | sed -n 's/^  topkcts \([a-z-]*\) .*/\1/p')
[ "$(echo "$commands" | wc -l)" -gt 20 ] || fail "topkcts help lists too few commands"
for command in $commands; do
    grep -A 3 "^topkcts $command\( \|\$\)" commands.txt >entry.txt || fail "the man page lacks the command $command"
    expect 0 "$TOPKCTS" "$command" --help
    [ "$(echo "$out" | wc -L)" -le 120 ] || fail "$command --help is wider than 120 columns"
    echo "$out" | sed -n 's/^  --\([a-z-]*\) .*/\1/p' >names.txt
    grep -qx help names.txt || fail "$command --help does not list --help"
    for name in $(cat names.txt); do
        grep -q "^Options:.* --$name\( \|\$\)" entry.txt || fail "the man page's $command lacks --$name"
        # The words of --help, however they are broken, stand in an entry of that name that names the command.
        words=$(echo "$out" | awk -v name="--$name" '$1 == name { on = 1; sub("^ *--[^ ]+ ", ""); print; next }
                                                     /^  -/ || /^$/ { on = 0 } on' | tr -s ' \n' '  ')
        awk -v name="--$name" -v command="$command" '
            /^\.TP/ { take() ; entry = ""; next } { entry = entry " " $0 }
            function take() { if (entry ~ "^ " name "( |$)" && entry ~ "[(, ]" command "[,)]") print entry }
            END { take() }' options.txt | tr -s ' ' >found.txt
        [ -s found.txt ] || fail "the man page explains no --$name of $command"
        grep -qF -- "$(echo "$words" | sed 's/^ *//; s/ *$//')" found.txt || fail "--$name of $command: '$words' is not in the man page"
    done
    expect 0 "$TOPKCTS" help "$command"
    prints "--help"
done

section VERDICTS >verdicts.txt
sed -n '/CASE result.verdict/,/END/p' "$root/harness/schema.sql" | grep -o "THEN '[a-z]*'" | cut -d "'" -f 2 | sort -u >known.txt
[ "$(wc -l <known.txt)" -ge 10 ] || fail "schema.sql does not list the verdicts where this test looks"
while read -r verdict; do
    grep -qx "$verdict" verdicts.txt || fail "the man page lacks the verdict $verdict"
done <known.txt
section "EXIT STATUS" >codes.txt
for code in 0 1 2 3; do
    grep -A 1 -x "$code" codes.txt | grep -q ' ' || fail "the man page lacks exit code $code"
done

# One command's help, also by a query's name; mistakes name what would be right.
expect 0 "$TOPKCTS" query regressions --help
prints "--since"
prints "--db"
expect 2 "$TOPKCTS" help runn
says "there are run"
expect 2 "$TOPKCTS" help --man run
says "--man"
expect 0 "$TOPKCTS" --version
prints "topkcts "

if command -v groff >/dev/null; then
    expect 0 groff -man -ww -z -Tutf8 page.1
    [ -z "$err" ] || fail "groff complains"
fi
if command -v mandoc >/dev/null; then
    expect 0 mandoc -Tlint -W warning page.1
fi
exit 0
