# SPDX-License-Identifier: Apache-2.0
# What the scripts that build plugins from installed packages have in common. Sourced, not run; sets root, the project.
#
#     usage                          prints the comment at the top of the script; exit code 2
#     absent TEXT                    says what is not here; exit code 2
#     package_folder NAME            prints the folder of that package of $PYTHON; nothing where there is none
#     package_version FOLDER NAME    prints the version in the metadata beside a package's folder, or "unknown"
#     need_compiler NAME             absent, unless it is on the PATH
#     sm_number TARGET               prints 90 for sm_90a
#     find_sglang FILE WHAT          sets sglang, tvm, version, and jit: the folder of sources that has FILE. WHAT is wanted of
#                                    tvm_ffi, for the message
root=$(cd "$(dirname "$0")/../.." && pwd)

usage() {
    sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"
    exit 2
}

absent() {
    echo "$1" >&2
    exit 2
}

package_folder() {
    "${PYTHON:-python3}" -c "import importlib.util as u; s = u.find_spec('$1'); print(s.submodule_search_locations[0] if s else '')" 2>/dev/null
}

package_version() {
    found=$(sed -n 's/^Version: //p' "$(dirname "$1")/$2"-*.dist-info/METADATA 2>/dev/null | head -n 1)
    echo "${found:-unknown}"
}

need_compiler() {
    command -v "$1" >/dev/null || absent "no $1 on the PATH"
}

sm_number() {
    echo "$1" | sed 's/^sm_//; s/[a-z]*$//'
}

find_sglang() {
    sglang=${SGLANG:-$(package_folder sglang)}
    tvm=${TVM_FFI:-$(package_folder tvm_ffi)}
    [ -d "$sglang" ] || absent "sglang is not installed for ${PYTHON:-python3}; set SGLANG to an unpacked package"
    [ -d "$tvm/include" ] || absent "tvm_ffi (package apache-tvm-ffi) is not installed; $2 needed; set TVM_FFI"
    jit=
    for candidate in "$sglang/kernels/jit" "$sglang/jit_kernel"; do
        [ -e "$candidate/csrc/$1" ] && jit=$candidate && break
    done
    [ -n "$jit" ] || absent "$sglang has no $1: this version keeps it elsewhere, or has none"
    version=$(package_version "$sglang" sglang)
}
