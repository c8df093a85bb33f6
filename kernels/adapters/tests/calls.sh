# SPDX-License-Identifier: Apache-2.0
# How the adapters call their packages, on stand-ins with the real signatures; and torch.topk for real, on the CPU.
root=$(cd "$(dirname "$0")/../../.." && pwd)
. "$root/harness/tests/expect.sh"
. "$root/kernels/adapters/find_python.sh"
with_torch=
for candidate in "$python" /usr/bin/python3; do
    "$candidate" -c 'import torch, numpy' 2>/dev/null && with_torch=$candidate && break
done
[ -n "$with_torch" ] || fail "no Python with torch; install python3-torch"
expect 0 "$with_torch" "$root/kernels/adapters/tests/calls.py"
prints "calls checked"
expect 0 "$TOPKCTS" run 'boundary-ties/topk=512*' --provider "process:$with_torch $adapters/torch_topk.py" --db torch.db --timeout 60
[ "$(query torch.db "select count(*) from results where verdict = 'pass'")" -ge 5 ] || fail "torch.topk is not judged"
# Here none of the packages is installed, or there is no GPU: a skip with the reason, and never green.
for adapter in sglang_topk flashinfer_topk vllm_topk aiter_topk; do
    expect 3 "$TOPKCTS" run 'row-ends/topk=512,length=514*' --provider "process:$with_torch $adapters/$adapter.py" --db "$adapter.db"
    reason=$(query "$adapter.db" "select distinct reason from results where verdict = 'skip'")
    case $reason in *"is not installed"* | *"needs a GPU"* | *"cannot be loaded here"* | *" needs "*) ;; *) fail "$adapter: '$reason'" ;; esac
done
exit 0
