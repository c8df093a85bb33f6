# SPDX-License-Identifier: Apache-2.0
# `show --dump` of one case of every family: the five arrays agree with an oracle in Python that shares no code with
# the suite, written from the contract.
. "$(dirname "$0")/../expect.sh"
here=$(dirname "$0")
"$TOPKCTS" list --json 2>/dev/null >cases.json
python3 - "$TOPKCTS" <<'PY' || exit 1
import json, struct, subprocess, sys

program = sys.argv[1]
LIMIT = 40000  # scores a row: longer rows cost this script too long


def read_npy(path):
    data = open(path, 'rb').read()
    assert data[:6] == b'\x93NUMPY' and data[6:8] == b'\x01\x00', path
    size = struct.unpack('<H', data[8:10])[0]
    header = eval(data[10:10 + size].decode())
    assert not header['fortran_order'] and (10 + size) % 64 == 0, path
    count = 1
    for extent in header['shape']:
        count *= extent
    code = {'<f4': 'I', '<i4': 'i'}[header['descr']]
    return header['shape'], struct.unpack('<%d%s' % (count, code), data[10 + size:])


def rank(bits, claims):
    sign, magnitude = bits >> 31, bits & 0x7fffffff
    if magnitude > 0x7f800000:
        nan = claims.get('nan', 'none')
        if nan == 'never':
            return None
        if nan == 'largest':
            return (1 << 33)
    if bits == 0xff800000 and claims.get('neg_inf') == 'hole':
        return None
    if claims.get('zero') == 'bits':
        return -magnitude - 1 if sign else magnitude
    return -magnitude if sign else magnitude


def check(name):
    subprocess.run([program, 'show', name, '--dump', 'dump'], check=True, capture_output=True)
    case = json.load(open('dump/case.json'))
    (batch, stride), scores = read_npy('dump/scores.npy')
    (_,), lengths = read_npy('dump/seq_lens.npy')
    (_, table_stride), table = read_npy('dump/page_table.npy')
    (_, topk), pages = read_npy('dump/expected_page_indices.npy')
    (_, _), raws = read_npy('dump/expected_raw_indices.npy')
    width, page_size, claims = case['max_seq_len'], case['page_size'], case['claims']
    assert topk == case['topk'] and batch == case['batch'] and stride >= width, name
    for b in range(batch):
        n = min(max(lengths[b], 0), width)
        row = scores[b * stride:b * stride + stride]
        assert all(s == 0x7f800000 for s in row[n:]), (name, b, '+inf beyond the row')
        pages_needed = -(-n // page_size)
        entries = table[b * table_stride:b * table_stride + pages_needed]
        assert len(set(entries)) == len(entries) and all(0 <= e and e * page_size + page_size - 1 < 2**31
                                                         for e in entries), (name, b, 'page table')
        order = [(-rank(s, claims), i) for i, s in enumerate(row[:n]) if rank(s, claims) is not None]
        chosen = sorted(i for _, i in sorted(order)[:topk])
        want = chosen + [-1] * (topk - len(chosen))
        assert list(raws[b * topk:(b + 1) * topk]) == want, (name, b)
        mapped = [entries[i // page_size] * page_size + i % page_size if i >= 0 else -1 for i in want]
        assert list(pages[b * topk:(b + 1) * topk]) == mapped, (name, b)


done = set()
for case in json.load(open('cases.json')):
    if case['family'] not in done and max(case['lengths']) <= LIMIT and case['batch'] * case['length'] <= 200000:
        check(case['case'])
        done.add(case['family'])
families = {case['family'] for case in json.load(open('cases.json'))}
print('families checked:', len(done), 'not (too large):', sorted(families - done))
assert len(done) >= 30 and len(families - done) <= 4
PY
exit 0
