#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# `make test` from nothing: a program that a test script calls comes from a package that the Makefile installs, or from one
# that every Debian has, or from what those depend on. A script that asks `command -v` first may call what it likes.
set -u
root=$(cd "$(dirname "$0")/../../.." && pwd)
command -v dpkg-query >/dev/null || { echo "no dpkg here: which package brings a program cannot be asked"; exit 77; }
cat >look.py <<'PY'
import glob, os, re, subprocess, sys

root, scripts = sys.argv[1], sys.argv[2:]
makefile = open(root + "/Makefile").read().replace("\\\n", " ")
wanted = []
for name in ("BUILD_PACKAGES", "TEST_PACKAGES"):
    wanted += re.search(r"^%s := (.*)$" % name, makefile, re.M).group(1).split()

fields = ["Package", "Essential", "Priority", "Provides", "Depends", "Pre-Depends"]
packages, essential = {}, []
answer = subprocess.check_output(["dpkg-query", "-W", "-f", "\t".join("${%s}" % f for f in fields) + "\n"], text=True)
for line in answer.splitlines():
    package, is_essential, priority, provides, *depends = line.split("\t")
    names = [n.split()[0].split(":")[0] for d in depends for n in re.split("[,|]", d) if n.strip()]
    packages.setdefault(package, set()).update(names)
    for virtual in provides.split(","):
        if virtual.strip():
            packages.setdefault(virtual.split()[0], set()).add(package)
    # debootstrap brings both, to the smallest of its roots.
    if is_essential == "yes" or priority == "required":
        essential.append(package)

# What the two README commands need themselves.
reached, open_ends = set(), essential + wanted + ["make", "git"]
while open_ends:
    package = open_ends.pop()
    if package not in reached:
        reached.add(package)
        open_ends += packages.get(package, ())

brought, elsewhere = set(), {}
for path in glob.glob("/var/lib/dpkg/info/*.list"):
    package = os.path.basename(path)[: -len(".list")].split(":")[0]
    for file in open(path, errors="replace").read().split("\n"):
        if re.fullmatch(r"(/usr)?/s?bin/[^/]+", file):
            brought.add(os.path.basename(file)) if package in reached else elsewhere.setdefault(os.path.basename(file), package)
built_in = {"kill", "test", "printf", "echo", "time"}
elsewhere = {name: package for name, package in elsewhere.items() if name not in brought | built_in}
# Told on machines without them, too.
for name in ("pgrep", "pkill", "ps", "pidof", "top", "free", "watch"):
    if name not in brought:
        elsewhere.setdefault(name, "procps")

mistakes = 0
start = r"(?:^|[|&;({`!]|\$\(|\b(?:if|then|else|elif|do|while|until|env|timeout \d+|nice))\s*"
for path in scripts:
    text = open(path).read()
    text = re.sub(r"<<-?\s*(['\"]?)(\w+)\1(.*)\n(?:.*\n)*?\s*\2\n", r"\3\n", text)
    text = re.sub(r"(?m)(?:^|\s)#.*$", "", text)
    text = re.sub(r"'[^']*'", "''", text)
    for name in sorted(set(re.findall(start + r"([a-z][\w.+-]*)(?=[\s;)]|$)", text, re.M))):
        if name in elsewhere and not re.search(r"command -v [^\n;&|]*\b%s\b|^%s\(\)" % (re.escape(name), re.escape(name)), text, re.M):
            print("%s calls %s of the package %s, which nothing brings on a fresh machine" % (os.path.relpath(path, root), name, elsewhere[name]))
            mistakes += 1
    # A module of Python's own that Debian packs apart.
    if re.search(r"python3 -m pip\b", text) and "python3-pip" not in reached:
        print("%s calls python3 -m pip, and nothing brings python3-pip on a fresh machine" % os.path.relpath(path, root))
        mistakes += 1
print("%d scripts, %d mistakes" % (len(scripts), mistakes))
sys.exit(mistakes > 0 or len(scripts) < 40)
PY
python3 look.py "$root" "$root"/harness/tests/*.sh "$root"/harness/tests/cli/*.sh "$root"/reports/tests/*.sh \
    "$root"/kernels/adapters/tests/*.sh
