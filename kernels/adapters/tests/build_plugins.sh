# SPDX-License-Identifier: Apache-2.0
# The scripts that build other people's kernels as plugins: what is absent is exit code 2 with the reason, never half a
# build. With real packages they are tried where those are installed.
root=$(cd "$(dirname "$0")/../../.." && pwd)
. "$root/harness/tests/expect.sh"
adapters=$root/kernels/adapters
mkdir -p empty bin
for tool in sh sed head dirname basename cat grep mktemp rm mkdir python3; do
    ln -s "$(command -v "$tool")" "bin/$tool"
done

# No package.
for script in build_sglang_v1 build_sglang_v2; do
    expect 2 env PYTHON=/nonexistent sh "$adapters/$script.sh" out.so
    says "sglang is not installed"
done
expect 2 env PYTHON=/nonexistent sh "$adapters/build_flashinfer.sh" out
says "flashinfer is not installed"

# A package that keeps its sources elsewhere, or is too old.
mkdir -p sglang tvm_ffi/include tvm_ffi/lib flashinfer/data/include/flashinfer
: >tvm_ffi/lib/libtvm_ffi.so
expect 2 env SGLANG="$PWD/sglang" TVM_FFI="$PWD/tvm_ffi" sh "$adapters/build_sglang_v2.sh" out.so
says "has no deepseek_v4/topk_v2.cuh"
expect 2 env SGLANG="$PWD/sglang" TVM_FFI="$PWD/empty" sh "$adapters/build_sglang_v2.sh" out.so
says "tvm_ffi"
expect 2 env FLASHINFER="$PWD/flashinfer" TVM_FFI="$PWD/tvm_ffi" sh "$adapters/build_flashinfer.sh" out
says "topk.cuh"
: >flashinfer/data/include/flashinfer/topk.cuh
expect 2 env FLASHINFER="$PWD/flashinfer" TVM_FFI="$PWD/tvm_ffi" sh "$adapters/build_flashinfer.sh" out
says "too old"

# No compiler, another vendor's target, a variant that does not exist.
mkdir -p sglang/kernels/jit/csrc/deepseek_v4
: >sglang/kernels/jit/csrc/deepseek_v4/topk_v2.cuh
expect 2 env PATH="$PWD/bin" SGLANG="$PWD/sglang" TVM_FFI="$PWD/tvm_ffi" sh "$adapters/build_sglang_v2.sh" out.so
says "no nvcc"
expect 2 env SGLANG="$PWD/sglang" TVM_FFI="$PWD/tvm_ffi" sh "$adapters/build_sglang_v2.sh" out.so gfx942
says "sm_NN is accepted"
echo 'struct ConfigurablePageTableKernelPolicy;' >flashinfer/data/include/flashinfer/topk.cuh
expect 2 env PATH="$PWD/bin" FLASHINFER="$PWD/flashinfer" TVM_FFI="$PWD/tvm_ffi" sh "$adapters/build_flashinfer.sh" out
says "no nvcc"
if command -v nvcc >/dev/null; then
    expect 2 env VARIANT=fast SGLANG="$PWD/sglang" TVM_FFI="$PWD/tvm_ffi" sh "$adapters/build_sglang_v2.sh" out.so
    says "every-launch, kept and kept-pdl"
    # A source that does not compile is the kernel's failure, and leaves no plugin.
    sh "$adapters/build_flashinfer.sh" out >build.out 2>&1
    FLASHINFER="$PWD/flashinfer" TVM_FFI="$PWD/tvm_ffi" sh "$adapters/build_flashinfer.sh" out >build.out 2>&1
    code=$?
    [ "$code" != 0 ] && [ "$code" != 2 ] || fail "a source that does not compile: exit $code"
fi
[ ! -e out.so ] && [ ! -e out/flashinfer-both.so ] || fail "half a build"
exit 0
