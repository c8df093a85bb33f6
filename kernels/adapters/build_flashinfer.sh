#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds flashinfer.cu against the flashinfer that is installed, or unpacked: build_flashinfer.sh FOLDER [TARGET]
# Leaves flashinfer-default.so, flashinfer-deterministic.so, flashinfer-tie-break.so and flashinfer-both.so in FOLDER.
#
#     TARGET      sm_90a, sm_100a ... (default: sm_90a)
#     WITH_CUB    0: without the kernels of CUB that newer versions choose for some shapes (default: with them where the
#                 package has them, which takes longer to compile and needs tvm_ffi)
#     PYTHON      whose site-packages hold flashinfer and tvm_ffi (default: python3)
#     FLASHINFER  folder of the package instead, for an unpacked wheel; TVM_FFI likewise
#
# Exit code 0: built. 2: no flashinfer or no compiler here. Anything else is the compiler's own: it rejects the source,
# which is a failure of the kernel, not of this script.
set -u
. "$(dirname "$0")/installed_package.sh"
[ $# -ge 1 ] || usage
folder=$1
target=${2:-sm_90a}
flashinfer=${FLASHINFER:-$(package_folder flashinfer)}
tvm=${TVM_FFI:-$(package_folder tvm_ffi)}
[ -d "$flashinfer" ] || absent "flashinfer is not installed for ${PYTHON:-python3}; set FLASHINFER to an unpacked package"
data=$flashinfer/data
[ -e "$data/include/flashinfer/topk.cuh" ] ||
    absent "$flashinfer has no data/include/flashinfer/topk.cuh: this version keeps it elsewhere, or has none"
grep -q 'ConfigurablePageTableKernelPolicy' "$data/include/flashinfer/topk.cuh" ||
    absent "$flashinfer maps no pages of more than one entry yet: too old"
case $target in
sm_*) ;;
*) absent "TARGET is '$target'; sm_NN is accepted" ;;
esac
need_compiler nvcc
version=$(package_version "$flashinfer" flashinfer_python)

cub=
library=
if [ "${WITH_CUB:-1}" != 0 ] && [ -e "$data/csrc/cub_topk.cu" ]; then
    [ -e "$tvm/lib/libtvm_ffi.so" ] || absent "tvm_ffi (package apache-tvm-ffi) is not installed; set TVM_FFI, or WITH_CUB=0"
    # The package brings a newer CUB than the toolkit's, and puts it in front of it.
    cub="-DWITH_CUB -I$data/cccl/libcudacxx/include -I$data/cccl/cub -I$data/cccl/thrust -I$data/csrc"
    cub="$cub -I$tvm/include -I$tvm/3rdparty/dlpack/include"
    library="$tvm/lib/libtvm_ffi.so -Xlinker -rpath=$tvm/lib -Xlinker -rpath=\$ORIGIN"
fi
mkdir -p "$folder"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# $1: the object; then what is special about it. What plugins would share when they are loaded side by side (statics of
# inline functions) is kept apart.
compile() {
    object=$1
    shift
    nvcc -std=c++17 -O3 -use_fast_math -DNDEBUG -arch="$target" --expt-relaxed-constexpr -Xfatbin -compress-all \
        -Xcompiler -fPIC,-fvisibility=hidden,-fno-gnu-unique "$@" -DFLASHINFER_ENABLE_F16 -DFLASHINFER_ENABLE_BF16 \
        -I"$data/include" -I"$root/harness" -DFLASHINFER_VERSION="\"$version\"" \
        -c -o "$object" "$root/kernels/adapters/flashinfer.cu"
}

# $1: the mode; $2: its number in flashinfer.cu; $3: the object; then libraries.
link_mode() {
    output=$folder/flashinfer-$1.so
    echo "extern \"C\" const int flashinfer_mode; const int flashinfer_mode = $2;" >"$scratch/mode.cpp"
    object=$3
    shift 3
    nvcc -shared -cudart static -arch="$target" -Xcompiler -fPIC,-fvisibility=hidden -o "$output" "$scratch/mode.cpp" "$object" "$@"
}

# The deterministic modes never take CUB's kernels.
compile "$scratch/own.o" || exit
link_mode deterministic 1 "$scratch/own.o" && link_mode both 3 "$scratch/own.o" || exit
kernels=$scratch/own.o
if [ -n "$cub" ]; then
    kernels=$scratch/cub.o
    # shellcheck disable=SC2086
    compile "$kernels" $cub || exit
fi
# shellcheck disable=SC2086
link_mode default 0 "$kernels" $library && link_mode tie-break 2 "$kernels" $library
