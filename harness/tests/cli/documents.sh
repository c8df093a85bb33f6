# SPDX-License-Identifier: Apache-2.0
# What the READMEs name is there: links, files of the tree, commands, options and make targets.
. "$(dirname "$0")/../expect.sh"
root=$(cd "$(dirname "$0")/../../.." && pwd)
here=$PWD
cd "$root" || exit 1
trouble=$here/trouble.txt
: >"$trouble"
documents=$(find . -name '*.md' -not -path './build*' -not -path './.git/*' -not -path './registry/reports.md')
[ "$(echo "$documents" | wc -l)" -ge 9 ] || fail "too few documents were found"

for document in $documents; do
    folder=$(dirname "$document")
    # [text](target)
    grep -oE '\]\([^)]+\)' "$document" | sed 's/^](//; s/)$//; s/#.*//' | grep -vE '^(https?:|$)' | sort -u >"$here/links"
    while read -r link; do
        [ -e "$folder/$link" ] || echo "$document: links to $link, which is not there" >>"$trouble"
    done <"$here/links"
    # `word` with the ending of a source is a file: beside the document or below, at the top, or (a lone name) anywhere.
    # Not so the names that stand for others (NAME, ID) and what a reader makes (mine.c, x.hip).
    grep -oE '`[^` ]+`' "$document" | tr -d '`' | grep -E '^[a-z.][A-Za-z0-9_./*-]*\.(c|h|hip|cu|cpp|py|sh|sql|md|mk|S|yaml|html)$' |
        grep -vE '(^|/)(mine|x|k|p|my_rows|my-lost-winners|old|new)\.|NAME|(^|/)ID\.|schema_N' | sort -u >"$here/files"
    while read -r file; do
        found=$(cd "$folder" && ls -d $file 2>/dev/null | head -n 1)
        [ -n "$found" ] || found=$(ls -d $file 2>/dev/null | head -n 1)
        [ -n "$found" ] || case $file in */*) ;; *) found=$(git ls-files -- "*/$file" | head -n 1) ;; esac
        [ -n "$found" ] || found=$(git ls-files -- "$folder/*/$file" | head -n 1)
        [ -n "$found" ] || echo "$document: names $file, which is not there" >>"$trouble"
    done <"$here/files"
    # topkcts COMMAND .. --option, and make TARGET
    sed 's/\\$//' "$document" | grep -oE '(build/)?topkcts [a-z-]+( [^`#|]*)?' | sed 's/^build\///' >"$here/calls"
    while read -r _ command rest; do
        "$TOPKCTS" help "$command" >"$here/help" 2>/dev/null || continue # prose: "topkcts is"
        for option in $(echo "$rest" | grep -oE '(^| )--[a-z-]+' | tr -d ' '); do
            [ "$command" = query ] && "$TOPKCTS" query >>"$here/help"
            grep -qE "^ +$option( |\$)" "$here/help" || echo "$document: topkcts $command has no $option" >>"$trouble"
        done
    done <"$here/calls"
    grep -oE '`make [a-z-]+' "$document" | sed 's/.* //' | sort -u >"$here/targets"
    while read -r target; do
        grep -qE "^$target:" Makefile harness/gpu/gpu.mk || echo "$document: there is no make $target" >>"$trouble"
    done <"$here/targets"
done
# Sources and their comments: a file that is named with its folder is there.
git grep -hoP '(?<![\w/.-])(harness|kernels|cases|reference|registry|reports)/[a-z0-9_/-]+\.(c|h|hip|cu|cpp|py|sh|sql|md|mk|yaml)\b' -- \
    '*.[ch]' '*.cpp' '*.hip' '*.sql' '*.yaml' Makefile '*.mk' | sort -u >"$here/named"
while read -r file; do
    [ -e "$file" ] || git grep -nF "$file" -- ':!registry/hashes.txt' | head -n 1 >>"$trouble"
done <"$here/named"
cd "$here" || exit 1
[ ! -s trouble.txt ] || { cat trouble.txt; fail "documents name what is not there"; }
exit 0
