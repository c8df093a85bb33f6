#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds sglang_v1.cu against the sglang that is installed, or unpacked: build_sglang_v1.sh OUTPUT.so [TARGET]
#
#     TARGET      sm_90, gfx1100 ...; names the compiler, too: nvcc for sm_*, hipcc for gfx* (default: sm_90)
#     PYTHON      whose site-packages hold sglang and tvm_ffi (default: python3)
#     SGLANG      folder of the package instead, for an unpacked wheel; TVM_FFI likewise
#
# Exit code 0: built. 2: no sglang, no tvm_ffi or no compiler here. Anything else is the compiler's own: it rejects the
# source, which is a failure of the kernel, not of this script.
set -u
. "$(dirname "$0")/installed_package.sh"
[ $# -ge 1 ] || usage
output=$1
target=${2:-sm_90}
find_sglang deepseek_v4/topk_v1.cuh "its headers are"
dlpack=
[ -d "$tvm/3rdparty/dlpack/include" ] && dlpack="-I$tvm/3rdparty/dlpack/include"

set -- -std=c++20 -O3 -shared -I"$jit/csrc" -I"$jit/include" -I"$tvm/include" $dlpack -I"$root/harness" \
    -DSGLANG_VERSION="\"$version\"" -o "$output" "$root/kernels/adapters/sglang_v1.cu"
library=$(ls "$tvm"/lib/libtvm_ffi.so 2>/dev/null)
case $target in
sm_*)
    need_compiler nvcc
    exec nvcc "$@" -arch="$target" -DSGL_CUDA_ARCH="$(sm_number "$target")0" --expt-relaxed-constexpr -Xcompiler -fPIC ${library:+"$library" -Xlinker -rpath="$tvm/lib"}
    ;;
gfx*)
    need_compiler hipcc
    case $target in gfx942*) fp8=-DHIP_FP8_TYPE_FNUZ=1 ;; *) fp8=-DHIP_FP8_TYPE_E4M3=1 ;; esac
    exec hipcc -x hip $fp8 "$@" --offload-arch="$target" -DUSE_ROCM -fPIC ${library:+"$library" -Wl,-rpath,"$tvm/lib"}
    ;;
*)
    absent "TARGET is '$target'; sm_NN or gfxNNNN is accepted"
    ;;
esac
