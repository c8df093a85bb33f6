# SPDX-License-Identifier: Apache-2.0
# The static gate: passes on what is built here, and fails on each kind of broken rule.
. "$(dirname "$0")/../expect.sh"

[ -e "$BUILD/code_objects/manifest.json" ] || fail "no manifest"
if ! grep -q '"symbol"' "$BUILD/code_objects/manifest.json"; then # no compiler here knows any GPU
    expect 1 "$TOPKCTS" code-objects
    prints "nothing was checked"
    exit 0
fi
expect 0 "$TOPKCTS" code-objects
prints "within all limits"
expect 1 "$TOPKCTS" code-objects --targets gfx4711
prints "gfx4711: no code object was built for it"

# A manifest changed in one place, for each rule.
broken() { # python statement about kernel k, text that must be printed
    rm -rf bad
    mkdir bad
    cp "$BUILD"/code_objects/topk_v1.* bad/
    python3 - "$BUILD/code_objects/manifest.json" "$1" <<'PYTHON'
import json, sys
manifest = json.load(open(sys.argv[1]))
objects = [o for o in manifest["objects"] if o["kernels"]]
manifest["objects"] = objects[:1]
objects[0]["target"] = "gfx942"
k = objects[0]["kernels"][0]
for kernel in objects[0]["kernels"]:
    kernel.update(wave_size=64, agprs=0)
o = objects[0]
exec(sys.argv[2])
json.dump(manifest, open("bad/manifest.json", "w"))
PYTHON
    expect 1 "$TOPKCTS" code-objects bad
    prints "$2"
    case $2 in *"cannot be read"*) ;; *) case $out in *"cannot be read"*) fail "a file that is there is missed" ;; esac ;; esac
}
broken 'k["spills"] = 3' "spills 3 registers"
broken 'k["scratch"] = 16' "16 bytes of scratch"
broken 'k["wave_size"] = 32' "compiled for wave size 32"
broken 'k["dynamic_lds"] = 49153' "49153 bytes of dynamic LDS"
broken 'k["static_lds"] = 65537' "bytes of LDS, static and dynamic"
broken 'k["max_threads"] = 64' "allows 64 threads a block"
broken 'o["kernels"].pop()' "is missing from"
broken 'k["vgprs"] = 512; k["block"] = 1024' "not one block fits"
broken 'manifest["objects"] = []' "nothing was checked"
broken 'o["file"] = "gone.co"' "gone.co: cannot be read"
broken 'o["digest"] = "0" * 32' "the manifest says 00000000000000000000000000000000"
printf '{' >bad/manifest.json
expect 3 "$TOPKCTS" code-objects bad
says "manifest.json:1"
expect 2 "$TOPKCTS" code-objects a b

# A description that is torn, or of something else.
for text in 'target: gfx942' 'a: b' '- target: gfx942' 'kernels: [x]'; do
    echo "$text" >bad/topk_v1.gfx942.co.yaml
    expect 2 "$TOPKCTS" code-objects --update bad
    says "bad/topk_v1.gfx942.co.yaml:1: a description of a code object needs the key"
done
: >bad/topk_v1.gfx942.co.yaml
expect 2 "$TOPKCTS" code-objects --update bad
says "bad/topk_v1.gfx942.co.yaml"
exit 0
