#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# A modern ROCm where none is installed, and what it makes of this project, without a GPU:
#
#     sh harness/gpu/rocm.sh BUILD TARGET..        from the repository's root, after `make portable`; called by `make rocm`
#
# Debian testing's hipcc and HIP (about 1 GB) go into BUILD/rocm, a folder that is entered with chroot; nothing else of the
# machine changes. There the HIP backend is built against those headers, v1 is compiled ahead of time and, by hiprtc, at run
# time for every target, and the static gate is held. Needs root.
set -eu
build=$1
shift
targets=$*
root=$build/rocm
list=$(echo "$targets" | tr ' ' ',')

[ "$(id -u)" = 0 ] || { echo "make rocm enters a folder with chroot, which needs root"; exit 2; }
if [ ! -x "$root/usr/bin/hipcc" ]; then
    command -v mmdebstrap >/dev/null || { apt-get update -qq && apt-get install -y -qq --no-install-recommends mmdebstrap; }
    echo "fetching hipcc and HIP from Debian testing into $root (about 1 GB, minutes)"
    rm -rf "$root"
    # A mirror that is a copy may carry a release file past its date; signatures are checked all the same.
    mmdebstrap --variant=apt --include=hipcc,gcc,libc6-dev,make --aptopt='Acquire::Check-Valid-Until "false"' forky "$root" \
        >"$build/rocm.log" 2>&1 || { tail -n 5 "$build/rocm.log"; exit 2; }
fi

rm -rf "$root/topkcts" "$root/source"
cp -r "$build/portable/topkcts" "$root/topkcts"
mkdir -p "$root/source/harness" "$root/source/kernels"
cp -r harness/gpu harness/status.h harness/status.c "$root/source/harness/"
cp kernels/topk_v1.hip kernels/topk_v1_*.h kernels/port.h kernels/code_object.sh "$root/source/kernels/"
rm -rf "$root/topkcts/backends" "$root/topkcts/code_objects"
mkdir -p "$root/topkcts/backends"

mounted=
leave() { [ -z "$mounted" ] || umount "$root/proc"; }
trap leave EXIT
if [ ! -e "$root/proc/self/exe" ]; then
    mount -t proc proc "$root/proc" || { echo "/proc cannot be mounted in $root; run this where mount is allowed"; exit 2; }
    mounted=yes
fi

cat >"$root/source/run.sh" <<'INSIDE'
set -eu
cd /source
flags="-std=gnu17 -D_GNU_SOURCE -I. -O2 -Wall -Wextra -Wno-format-truncation -DTOPKCTS_HIP -D__HIP_PLATFORM_AMD__ -fPIC -fvisibility=hidden -shared"
gcc $flags -o /topkcts/backends/topkcts_hip.so harness/gpu/gpu_driver.c harness/status.c -lamdhip64 -ldl
gcc $flags -o /topkcts/backends/topkcts_hip_jit.so harness/gpu/gpu_compiler.c harness/status.c -lhiprtc
for target in $TARGETS; do
    HIP_COMPILERS="$(ls /usr/bin/clang++-* | sort -V | tail -n 1)" sh kernels/code_object.sh "$target" /topkcts/code_objects
done
echo "--- ahead of time, by $(ls /usr/bin/clang++-* | sort -V | tail -n 1)"
/topkcts/topkcts code-objects --update
/topkcts/topkcts code-objects --targets "$LIST"
echo "--- at run time, by hiprtc"
/topkcts/topkcts code-objects --jit --targets "$LIST"
echo "--- the HIP backend of this tool-chain"
/topkcts/topkcts devices | grep '^hip'
INSIDE
chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TARGETS="$targets" LIST="$list" sh /source/run.sh
