#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# How fast databases are merged: makes N databases (default 200) of 5000 results each, every one a night of its own on
# one of 20 devices, merges them into one and prints results per second, with the processor time (user+system): on a
# machine that does other things, only that is comparable.
#
#     TOPKCTS=build/topkcts sh harness/tests/merge_load.sh [N]
set -eu
databases=${1:-200}
topkcts=${TOPKCTS:-build/topkcts}
schema=$(dirname "$0")/../schema.sql
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
sqlite3 "$folder/one.db" <<SQL
.read $schema
INSERT INTO run (run, started_at, ended_at, suite, host, exit_code, meta)
    VALUES ('r', '2026-01-01T00:00:00.000Z', '2026-01-01T01:00:00.000Z', 'nightly-amd', 'h', 0, 0);
INSERT INTO device (device_id) VALUES ('GPU');
INSERT INTO run_device (run, device, backend, name, arch, wave_size, lds_bytes, memory_bytes)
    VALUES (1, 1, 'hip', 'a GPU', 'gfx1100', 32, 65536, 1);
INSERT INTO run_provider (run, provider, digest, origin) VALUES (1, 'v1', '11111111111111111111111111111111', 'aot');
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
INSERT INTO test_case (case_name, family, fault, topk, length, page_size, batch, outputs, stated_at)
    SELECT 'boundary-ties/topk=512,length=' || i || ',page_size=64,batch=8,outputs=page+raw', 'boundary-ties',
           'tie-break', 512, i, 64, 8, 'page+raw', '2026-01-01' FROM n;
INSERT INTO series (test_case, device, provider, origin, input_hash)
    SELECT id, 1, 'v1', 'aot', printf('%032x', id) FROM test_case;
INSERT INTO result (run_provider, run_device, test_case, series, attempt, promised, in_budget, starts, verdict, level,
                    set_exact, repeats, wall_ms, kernel_us_p50, output_digest, set_digest)
    SELECT 1, 1, id, id, 1, 6, 1, 1, 0, 6, 1, 10, 12.5, 7.25, randomblob(16), randomblob(16) FROM test_case;
INSERT INTO row_failure SELECT id, 0, 512, 4096, '1.0', 3, 1, 1, '[1]', '[2]', 'one missing' FROM result WHERE id % 50 = 0;
INSERT INTO latest_result SELECT series, id FROM result;
SQL
i=0
while [ $i -lt "$databases" ]; do
    cp "$folder/one.db" "$folder/night-$i.db"
    sqlite3 "$folder/night-$i.db" "UPDATE run SET run = 'run-$i', started_at = printf('2026-%02d-%02dT00:00:00.000Z', \
1 + $i / 28 % 12, 1 + $i % 28); UPDATE device SET device_id = 'GPU-' || ($i % 20);"
    i=$((i + 1))
done
begin=$(date +%s%N)
sh -c '"$@" && times' sh "$topkcts" merge "$folder/all.db" "$folder"/night-*.db >"$folder/first.txt"
cat "$folder/first.txt"
end=$(date +%s%N)
"$topkcts" merge "$folder/all.db" "$folder"/night-*.db
again=$(date +%s%N)
results=$(sqlite3 "$folder/all.db" 'SELECT count(*) FROM result')
[ "$results" = $((databases * 5000)) ] || { echo "expected $((databases * 5000)) results, found $results"; exit 1; }
echo "$databases databases of 5000 results: $(((end - begin) / 1000000)) ms, $((results * 1000 / ((end - begin) / 1000000 + 1))) results a second; processor time $(tail -n 1 "$folder/first.txt" | tr ' ' '+'); again: $(((again - end) / 1000000)) ms; $(stat -c %s "$folder/all.db") bytes"
