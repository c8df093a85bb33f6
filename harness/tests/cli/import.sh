# SPDX-License-Identifier: Apache-2.0
# `import`: what `show --dump` wrote comes back with the same input hash, for cases of every family; tensors of every kind,
# order and size that NumPy writes; damaged, hostile and oversized files; an interrupted or impossible write.
. "$(dirname "$0")/../expect.sh"
root=$(cd "$(dirname "$0")/../../.." && pwd)
. "$root/kernels/adapters/find_python.sh"
mkdir work

# Round trip, one case of each family that is not gigabytes, and several of some; the import in a registry of its own.
"$TOPKCTS" list --json 2>/dev/null >cases.json
$python - "$TOPKCTS" <<'PY' || exit 1
import json, subprocess, sys

program, seen, chosen = sys.argv[1], {}, []
for case in json.load(open('cases.json')):
    if case['batch'] * max(case['lengths']) <= 40000 and seen.get(case['family'], 0) < (
            4 if case['family'] in ('strides-and-bases', 'nan', 'negative-length', 'overlong-length', 'page-mapping') else 1):
        seen[case['family']] = seen.get(case['family'], 0) + 1
        chosen.append(case['case'])
for number, name in enumerate(chosen):
    subprocess.run([program, 'show', name, '--dump', 'work/dump'], check=True, capture_output=True)
    want = json.load(open('work/dump/case.json'))
    answer = subprocess.run([program, 'import', 'work/dump', '--id', 'again-%d' % number, '--registry', 'work/again', '--json'],
                            check=True, capture_output=True)
    got = json.loads(answer.stdout)
    assert got['input_hash'] == want['input_hash'], (name, got, want['input_hash'])
    assert got['case'].split('/')[1].startswith('topk=%d,' % want['topk']), got
assert len(chosen) >= 30, len(chosen)
print('round trips:', len(chosen))
PY
expect 0 "$TOPKCTS" run 'again-*' --registry work/again --provider reference --db again.db
[ "$(query again.db "select count(*) from results where verdict <> 'pass'")" = 0 ] || fail "a case that came back is not passed"

# Tensors as NumPy and others write them. Every file holds the same rows, so every case has the same hash.
$python - <<'PY' || exit 1
import json, struct, zipfile
import numpy as np

rows = np.arange(24, dtype='<f4').reshape(3, 8) / 4
rows[1] = [3, 3, -0.0, 0.0, -np.inf, np.inf, 1, 2]
lengths, table = np.array([8, 7, 0]), np.array([[4, 9], [1, 0], [7, 7]])
np.savez('plain.npz', scores=rows, seq_lens=lengths.astype('<i8'), page_table=table)
np.savez_compressed('deflated.npz', scores=rows.astype('>f4'), seq_lens=lengths.astype('>i4'), page_table=table.astype('u2'))
np.savez('half.npz', scores=np.asfortranarray(rows.astype('f2')), seq_lens=lengths.astype('u1'), page_table=np.asfortranarray(table))
np.savez('double.npz', logits=rows.astype('f8'), lengths=lengths, block_table=table)
with zipfile.ZipFile('zip64.npz', 'w') as archive:
    for name, array in (('scores', rows), ('seq_lens', lengths), ('page_table', table)):
        with archive.open(name + '.npy', 'w', force_zip64=True) as entry:
            np.lib.format.write_array(entry, array, version=(2, 0))


def safetensors(path, tensors, metadata=None):
    header, data = {'__metadata__': metadata or {}}, b''
    for name, (kind, shape, body) in tensors.items():
        header[name] = {'dtype': kind, 'shape': shape, 'data_offsets': [len(data), len(data) + len(body)]}
        data += body
    text = json.dumps(header).encode()
    open(path, 'wb').write(struct.pack('<Q', len(text)) + text + data)


bfloat = (rows.view('u4') >> 16).astype('u2')
safetensors('b.safetensors', {'layers.3.scores': ('BF16', [3, 8], bfloat.tobytes()),
                              'layers.3.seq_lens': ('I64', [3], lengths.astype('<i8').tobytes()),
                              'layers.3.page_table': ('I32', [3, 2], table.astype('<i4').tobytes())})
np.save('scores.npy', rows)
np.save('seq_lens.npy', lengths)
np.save('page_table.npy', table)

# What is not accepted.
np.save('ints.npy', np.ones((2, 3), dtype='i4'))
np.save('objects.npy', np.array([[None]]), allow_pickle=True)
np.save('structures.npy', np.zeros(3, dtype=[('a', 'f4')]))
np.save('cube.npy', np.zeros((2, 2, 2), dtype='f4'))
np.save('empty.npy', np.zeros((0, 4), dtype='f4'))
np.save('inexact.npy', np.array([[0.1]]))
np.save('short_lengths.npy', np.array([1, 2]))
np.save('wide_lengths.npy', np.array([1, 2, 1 << 40]))
np.save('float_lengths.npy', np.array([1., 2., 3.]))
open('cut.npy', 'wb').write(open('scores.npy', 'rb').read()[:-5])
open('cut_header.npy', 'wb').write(open('scores.npy', 'rb').read()[:60])
open('nothing.npy', 'wb').close()
open('cut.npz', 'wb').write(open('plain.npz', 'rb').read()[:-40])
data = bytearray(open('plain.npz', 'rb').read())
data[data.index(rows.tobytes()) + 9] ^= 1
open('flipped.npz', 'wb').write(data)
open('cut.safetensors', 'wb').write(open('b.safetensors', 'rb').read()[:-30])
open('huge.safetensors', 'wb').write(struct.pack('<Q', 1 << 60) + b'{}')
safetensors('wrong.safetensors', {'scores': ('F32', [3, 9], rows.tobytes())})
safetensors('eight.safetensors', {'scores': ('F8_E4M3', [4, 4], b'0' * 16)})


def npy(path, descr, shape, body=b''):
    text = ("{'descr': '%s', 'fortran_order': False, 'shape': %s, }\n" % (descr, shape)).encode()
    open(path, 'wb').write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(text)) + text + body)


npy('hostile.npy', '<f4', '(2147483647, 2147483647)')
npy('negative.npy', '<f4', '(-1, 4)')
npy('large.npy', '<f4', '(1024, 262144)')
npy('bfloat.npy', '|V2', '(1, 2)', b'1234')
npy('nested.npy', '<f4', '(((((((((((1,')
PY

n=0
hashes=""
for files in plain.npz deflated.npz half.npz double.npz zip64.npz b.safetensors "scores.npy seq_lens.npy page_table.npy"; do
    n=$((n + 1))
    expect 0 "$TOPKCTS" import $files --id kind-$n --topk 3 --page-size 4 --registry kinds --json
    hashes="$hashes $($python -c 'import json; print(json.load(open("expect.out"))["input_hash"])')"
done
[ "$(echo $hashes | tr ' ' '\n' | sort -u | wc -l)" = 1 ] || fail "the same rows have other hashes:$hashes"
grep -q 'scores: bfloat16' kinds/cases/kind-6.yaml || fail "the type of captured scores is not noted"
expect 0 "$TOPKCTS" import plain.npz --id notes --topk 3 --page-size 4 --registry kinds --model some/model --layer 3 --step 17 \
    --source owner/project#1 --suite conformance --rows 0-1 --width 8
expect 0 "$TOPKCTS" show 'notes/topk=3,length=8+7,page_size=4,batch=2,outputs=page+raw' --registry kinds
prints "model some/model, layer 3, step 17"

# Scores without their magnitudes: order, ties, zero signs and infinities of each row; nothing else.
expect 0 "$TOPKCTS" import plain.npz --id ranks --topk 3 --page-size 4 --registry kinds --rank-only
expect 0 "$TOPKCTS" show 'ranks/topk=3,length=8+7+0,page_size=4,batch=3,outputs=page+raw' --registry kinds --dump ranks
$python - <<'PY' || exit 1
import numpy as np
ranks = np.load('ranks/scores.npy').view('u4')
want = np.array([[0, 1, 2, 3, 4, 5, 6, 7], [2, 2, -0.0, 0.0, -np.inf, np.inf, 1, np.inf], [np.inf] * 8], dtype='f4').view('u4')
assert (ranks == want).all(), (ranks, want)
PY

refused() { # WORDS FILES...
    words=$1
    shift
    expect 2 "$TOPKCTS" import "$@" --id refused --topk 2 --registry kinds
    says "$words"
    [ ! -e kinds/cases/refused.yaml ] || fail "a refused capture left an entry"
}
refused "scores are float32, float16, bfloat16" ints.npy
refused "Python objects" objects.npy
refused "structures" structures.npy
refused "is f4 [2, 2, 2]; scores is [batch, columns]" cube.npy
refused "at least one row" empty.npy
refused "0.1" inexact.npy
refused "one length for each row" scores.npy short_lengths.npy --tensor seq_lens=short_lengths
refused "1099511627776 does not fit int32" scores.npy wide_lengths.npy --tensor seq_lens=wide_lengths
refused "of an integer type" scores.npy float_lengths.npy --tensor seq_lens=float_lengths
refused "cut short" cut.npy
refused "cut short" cut_header.npy
refused "it is empty" nothing.npy
refused "no .npz file" cut.npz
refused "damaged" flipped.npz --page-size 4
refused "cut short" cut.safetensors --page-size 4
refused "no safetensors file" huge.safetensors
refused "96 bytes where its shape needs 108" wrong.safetensors
refused "F8_E4M3" eight.safetensors
refused "take some of the rows with --rows" large.npy
refused "MiB" hostile.npy
refused "no number of at least 0" negative.npy
refused "no bfloat16" bfloat.npy
refused "'shape'" nested.npy
refused "no tensor of that name" plain.npz --tensor scores=nobody
refused "no tensor is called scores" seq_lens.npy page_table.npy
refused "may be scores; say which" plain.npz scores.npy
refused "--page-size" plain.npz
refused "page 7 stands there twice" page_table.npy scores.npy --page-size 4
refused "neither a .npy" "$0"
refused "cannot be read" missing.npy
expect 2 "$TOPKCTS" import scores.npy --id Refused --topk 2 --registry kinds
says "no slug"
expect 2 "$TOPKCTS" import scores.npy --id kind-1 --topk 2 --registry kinds
says "is taken"
expect 2 "$TOPKCTS" import scores.npy --id other --topk 2 --registry kinds --fault nobody
says "is not declared"
expect 2 "$TOPKCTS" import scores.npy --topk 2 --registry kinds
says "--id NAME"

# The project's own registry, and a check of it: contents are what their name says.
mkdir -p mini/build mini/registry/cases
cp "$TOPKCTS" mini/build/topkcts
cp "$root"/registry/faults.yaml "$root"/registry/suites.yaml mini/registry/
cp kinds/cases/kind-1.yaml mini/registry/cases/
mkdir -p mini/cases/captured && cp kinds/captured/*.zst mini/cases/captured/
expect 0 mini/build/topkcts import scores.npy --id own --topk 2
prints mini/registry/cases/own.yaml
[ -e mini/registry/cases/own.yaml ] || fail "the case did not go to the project's own registry"
contents=$(sed -n 's/ *contents: //p' kinds/cases/kind-1.yaml)
cp kinds/captured/$(sed -n 's/ *contents: //p' kinds/cases/ranks.yaml).safetensors.zst mini/cases/captured/$contents.safetensors.zst
expect 2 mini/build/topkcts check
says "have the digest"

# Contents that are damaged or gone are an error that names the file, and never other inputs.
contents=kinds/captured/$(sed -n 's/ *contents: //p' kinds/cases/kind-1.yaml).safetensors.zst
case='kind-1/topk=3,length=8+7+0,page_size=4,batch=3,outputs=page+raw'
cp "$contents" kept
printf 'x' | dd of="$contents" bs=1 seek=60 conv=notrunc 2>/dev/null
expect 2 "$TOPKCTS" show "$case" --registry kinds
says "$(basename "$contents")"
rm "$contents"
expect 2 "$TOPKCTS" show "$case" --registry kinds
says "cannot be read"
cp kept "$contents"
expect 0 "$TOPKCTS" show "$case" --registry kinds

# A disk that is full, or a process that is killed at any moment: the whole case or none.
$python -c "import numpy as np; np.save('noise.npy', np.random.default_rng(1).standard_normal((8, 65536)).astype('f4'))"
(ulimit -f 200; exec "$TOPKCTS" import noise.npy --id full --topk 2 --registry full) >/dev/null 2>full.err
[ $? = 3 ] || fail "a full disk is no exit 3: $(cat full.err)"
grep -q 'cannot be written' full.err || fail "a full disk is not named: $(cat full.err)"
[ -z "$(find full -type f 2>/dev/null)" ] || fail "a full disk left $(find full -type f)"
for delay in 0.01 0.03 0.05 0.08 0.12; do
    "$TOPKCTS" import noise.npy --id killed --topk 2 --registry killed >/dev/null 2>&1 &
    victim=$!
    sleep $delay
    kill -9 $victim 2>/dev/null
    wait $victim 2>/dev/null
    [ -d killed/cases ] && [ -e killed/cases/killed.yaml ] || continue
    expect 0 "$TOPKCTS" list --registry killed killed
    rm -r killed
done
expect 0 "$TOPKCTS" import noise.npy --id afterwards --topk 2 --registry killed
exit 0
