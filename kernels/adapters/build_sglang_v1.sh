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
[ $# -ge 1 ] || { sed -n '3,10s/^# \{0,1\}//p' "$0"; exit 2; }
output=$1
target=${2:-sm_90}
root=$(cd "$(dirname "$0")/../.." && pwd)

folder_of() {
    "${PYTHON:-python3}" -c "import importlib.util as u; s = u.find_spec('$1'); print(s.submodule_search_locations[0] if s else '')" 2>/dev/null
}
sglang=${SGLANG:-$(folder_of sglang)}
tvm=${TVM_FFI:-$(folder_of tvm_ffi)}
[ -d "$sglang" ] || { echo "sglang is not installed for ${PYTHON:-python3}; set SGLANG to an unpacked package" >&2; exit 2; }
[ -d "$tvm/include" ] || { echo "tvm_ffi (package apache-tvm-ffi) is not installed; its headers are needed; set TVM_FFI" >&2; exit 2; }
jit=
for candidate in "$sglang/kernels/jit" "$sglang/jit_kernel"; do
    [ -e "$candidate/csrc/deepseek_v4/topk_v1.cuh" ] && jit=$candidate && break
done
[ -n "$jit" ] || { echo "$sglang has no deepseek_v4/topk_v1.cuh: this version keeps it elsewhere, or has none" >&2; exit 2; }
version=$(sed -n 's/^Version: //p' "$(dirname "$sglang")"/sglang-*.dist-info/METADATA 2>/dev/null | head -n 1)
dlpack=
[ -d "$tvm/3rdparty/dlpack/include" ] && dlpack="-I$tvm/3rdparty/dlpack/include"

set -- -std=c++20 -O3 -shared -I"$jit/csrc" -I"$jit/include" -I"$tvm/include" $dlpack -I"$root/harness" \
    -DSGLANG_VERSION="\"${version:-unknown}\"" -o "$output" "$root/kernels/adapters/sglang_v1.cu"
library=$(ls "$tvm"/lib/libtvm_ffi.so 2>/dev/null)
case $target in
sm_*)
    command -v nvcc >/dev/null || { echo "no nvcc on the PATH" >&2; exit 2; }
    number=$(echo "$target" | sed 's/^sm_//; s/[a-z]*$//')
    exec nvcc "$@" -arch="$target" -DSGL_CUDA_ARCH="${number}0" --expt-relaxed-constexpr -Xcompiler -fPIC ${library:+"$library" -Xlinker -rpath="$tvm/lib"}
    ;;
gfx*)
    command -v hipcc >/dev/null || { echo "no hipcc on the PATH" >&2; exit 2; }
    case $target in gfx942*) fp8=-DHIP_FP8_TYPE_FNUZ=1 ;; *) fp8=-DHIP_FP8_TYPE_E4M3=1 ;; esac
    exec hipcc -x hip $fp8 "$@" --offload-arch="$target" -DUSE_ROCM -fPIC ${library:+"$library" -Wl,-rpath,"$tvm/lib"}
    ;;
*)
    echo "TARGET is '$target'; sm_NN or gfxNNNN is accepted" >&2
    exit 2
    ;;
esac
