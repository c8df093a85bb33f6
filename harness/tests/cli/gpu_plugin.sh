# SPDX-License-Identifier: Apache-2.0
# The plugin for GPUs compiles with the GPU compilers that are here, exports its one symbol, and is refused on the host
# with a message that says where it runs. Whether its kernel is right is judged on a GPU, not here.
root=$(cd "$(dirname "$0")/../../.." && pwd)
. "$root/harness/tests/expect.sh"
compiled=0
refused() {
    expect 2 "$TOPKCTS" run row-ends --provider "./$1" --device host --db none.db
    says "it runs on $2"
    nm -D --defined-only "$1" | grep -q ' T topk_provider_entry$' || fail "$1 does not export topk_provider_entry"
    compiled=$((compiled + 1))
}
for nvcc in nvcc /usr/local/cuda/bin/nvcc; do
    command -v "$nvcc" >/dev/null || continue
    expect 0 "$nvcc" -std=c++17 -shared -Xcompiler -fPIC -Xcompiler -Wall,-Wextra -I "$root/harness" -o cuda.so "$root/kernels/plugin/gpu.cu"
    refused cuda.so cuda:0
    break
done
for hipcc in hipcc /opt/rocm/bin/hipcc; do
    command -v "$hipcc" >/dev/null || continue
    expect 0 "$hipcc" -x hip -std=c++17 -shared -fPIC -I "$root/harness" -o hip.so "$root/kernels/plugin/gpu.cu"
    refused hip.so hip:0
    break
done
[ "$compiled" -gt 0 ] || echo "no nvcc and no hipcc here: kernels/plugin/gpu.cu was not compiled"
exit 0
