#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Compiles top-k v1 ahead of time for one target, with the newest compiler of this machine that knows it:
#
#     sh kernels/code_object.sh TARGET FOLDER       from the repository's root; TARGET: gfx1100, sm_90, compute_80, ...
#
# FOLDER gets topk_v1.TARGET.co, .cubin or .ptx and, beside it, FILE.yaml: compiler, options and what the compiler says
# each kernel needs. `topkcts code-objects --update` makes the manifest of these. A target that no compiler here knows
# is no error: one line says so. A compiler that knows the target and rejects the source is one.
# HIP_COMPILERS and NVCC name compilers to try instead.
set -u
target=$1
folder=$2
source=kernels/topk_v1.hip
mkdir -p "$folder"
log=$folder/topk_v1.$target.log

# One line of YAML text, quoted.
quoted() { printf "'%s'" "$(printf '%s' "$1" | tr '\n' ' ' | sed "s/'/''/g")"; }

describe() { # file compiler options
    printf 'target: %s\ncompiler: %s\noptions: %s\n' "$target" "$(quoted "$2")" "$(quoted "$3")" >"$1.yaml"
}

amd_compilers() {
    if [ -n "${HIP_COMPILERS:-}" ]; then echo "$HIP_COMPILERS"; return; fi
    for n in 24 23 22 21 20 19 18 17 16 15; do echo "clang++-$n"; done
    echo "/opt/rocm/llvm/bin/clang++ clang++"
}

# The metadata reader of the compiler's own LLVM, or any other: the format has not changed since version 3 of it.
notes_reader() { # compiler
    n=${1##*-}
    for reader in "llvm-readelf-$n" "$(dirname "$(command -v "$1")")/llvm-readelf" llvm-readelf llvm-readelf-22 llvm-readelf-19 \
                  llvm-readelf-15 llvm-readelf-14; do
        if command -v "$reader" >/dev/null 2>&1; then echo "$reader"; return 0; fi
    done
    return 1
}

compile_amd() {
    file=$folder/topk_v1.$target.co
    for compiler in $(amd_compilers); do
        command -v "$compiler" >/dev/null 2>&1 || continue
        options="-x hip --offload-arch=$target --offload-device-only --no-gpu-bundle-output -nogpuinc -nogpulib -O3 -std=c++17 -I."
        # A target it does not know is told apart from a source it rejects by compiling nothing at all.
        # shellcheck disable=SC2086
        $compiler $options -c -o /dev/null /dev/null >"$log" 2>&1 || continue
        reader=$(notes_reader "$compiler") || { echo "$target: no llvm-readelf to read the metadata with" >&2; return 1; }
        # shellcheck disable=SC2086
        $compiler $options -o "$file.new" "$source" >"$log" 2>&1 || { cat "$log" >&2; return 1; }
        describe "$file" "$($compiler --version | head -1)" "$options"
        "$reader" --notes "$file.new" | sed -n '/^ *---/,/^\.\.\./p' | sed -e '/^ *---/d' -e '/^ *\.\.\.$/d' >>"$file.yaml"
        rm -f "$log"
        mv "$file.new" "$file"
        return 0
    done
    echo "  $target: no compiler here knows it (clang 20 or newer knows all; make rocm brings one)"
    rm -f "$file" "$file.yaml" "$log"
}

# What ptxas -v says, as YAML: one entry for each kernel.
nvidia_needs() {
    awk '
        /Compiling entry function/ { split($0, part, "\x27"); name = part[2] }
        /bytes stack frame/        { stack = $1; store = $5; load = $9 }
        /Used [0-9]+ registers/ {
            registers = smem = 0
            for (i = 1; i <= NF; i++) { if ($(i + 1) ~ /^registers/) registers = $i; if ($(i + 2) ~ /^smem/) smem = $i }
            if (!seen++) print "kernels:"
            printf "  - name: %s\n    registers: %d\n    static_lds: %d\n    scratch: %d\n    spills: %d\n",
                   name, registers, smem, stack, (store + load) / 4
        }' "$log"
}

compile_nvidia() {
    nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
    command -v "$nvcc" >/dev/null 2>&1 || { echo "  $target: no nvcc here"; return 0; }
    case $target in
    sm_*) kind=cubin; "$nvcc" --list-gpu-code 2>/dev/null | grep -qx "$target" || { echo "  $target: this nvcc does not know it"; return 0; } ;;
    *) kind=ptx ;;
    esac
    file=$folder/topk_v1.$target.$kind
    options="-x cu -arch=$target -$kind -O3 -std=c++17 -I."
    # shellcheck disable=SC2086
    "$nvcc" $options -Xptxas -v -o "$file.new" "$source" >"$log" 2>&1 || { cat "$log" >&2; return 1; }
    describe "$file" "$("$nvcc" --version | grep release)" "$options"
    nvidia_needs >>"$file.yaml"
    rm -f "$log"
    mv "$file.new" "$file"
}

case $target in
gfx*) compile_amd ;;
sm_* | compute_*) compile_nvidia ;;
*) echo "$target: no target; targets are gfxN, sm_N and compute_N" >&2; exit 2 ;;
esac
