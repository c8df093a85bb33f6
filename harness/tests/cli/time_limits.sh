# SPDX-License-Identifier: Apache-2.0
# Limits on a launch, on a case, on silence and on the whole run.
. "$(dirname "$0")/../expect.sh"

plugin() { # name, what a launch does before it answers
    cat >"$1.c" <<C
#include "host_select.h"
#include <time.h>
#include <unistd.h>
static int launch(void *self, const struct topk_problem *problem, char *err, size_t size)
{
    $2
    return plugin_launch(self, problem, err, size);
}
static const struct topk_provider provider = {.abi = TOPK_PROVIDER_ABI, .name = "$1", .version = "1", .memory = TOPK_MEMORY_HOST,
    .claims = {.level = TOPK_LEVEL_CANONICAL}, .open = plugin_open, .launch = launch, .close = plugin_close};
const struct topk_provider *topk_provider_entry(void) { return &provider; }
C
    tests=$(dirname "$0")/..
    ${CC:-cc} -D_GNU_SOURCE -shared -fPIC -I"$tests/plugins" -I"$tests/.." -o "$1.so" "$1.c" || fail "$1 cannot be compiled"
}
seconds() { date +%s; }

# Launches of 0.4 s are within a launch's limit of 1 s, a case of a dozen of them is not within 2 s.
plugin slow "nanosleep(&(struct timespec){0, 400000000}, NULL);"
expect 1 "$TOPKCTS" run 'ragged-rows' --jobs 1 --provider ./slow.so --timeout 1 --case-timeout 2 --db case.db
[ "$(query case.db "select count(*) from results where verdict = 'timeout' and reason like '%the case took more than 2 s in all%'")" = 3 ] || fail "a case has no limit"
[ "$(query case.db "select count(*) from results where verdict = 'notrun' and reason like 'gave up after 3 timeouts%'")" -ge 1 ] || fail "three time-outs are not enough to give up"

# The whole run: what is in flight or not reached by then is notrun, and fails the run.
begin=$(seconds)
expect 1 "$TOPKCTS" run 'ragged-rows' --jobs 1 --provider ./slow.so --time-limit 2 --db run.db
[ $(($(seconds) - begin)) -le 8 ] || fail "a limit of 2 s let the run take $(($(seconds) - begin)) s"
[ "$(query run.db "select count(*) from results where verdict = 'notrun' and reason like '%time limit of 2 s%'")" = "$(query run.db "select count(*) from results")" ] || fail "rows are something else than out of time"
prints "out of time; run"
run=$(query run.db "select run from runs")
[ "$(query run.db "select ended_at is not null and exit_code = 1 from runs")" = 1 ] || fail "the books are not closed"

# A flood of messages in the worker's own line is no sign of life for ever, and starves nobody.
plugin floods "for (;;) for (int fd = 1000; fd < 1024; fd++) (void)!write(fd, (char[]){46, 10}, 2);"
expect 1 "$TOPKCTS" run 'ragged-rows' --jobs 2 --provider ./floods.so --provider reference --timeout 1 --case-timeout 2 --db flood.db
[ "$(query flood.db "select count(*) from results where provider = 'floods' and verdict = 'timeout'")" = 3 ] || fail "a flood has no limit"
[ "$(query flood.db "select count(*) from results where provider = 'reference' and verdict <> 'pass'")" = 0 ] || fail "a flood starves others"

# Neither is what is no message at all.
plugin babbles "static char x[65536]; memset(x, 120, sizeof x); for (;;) for (int fd = 1000; fd < 1024; fd++) (void)!write(fd, x, sizeof x);"
expect 1 "$TOPKCTS" run 'ragged-rows' --jobs 1 --provider ./babbles.so --db babble.db
[ "$(query babble.db "select count(*) from results where verdict = 'crash' and reason like '%it wrote what is no message%'")" = 10 ] || fail "babble is not told apart: $(query babble.db "select reason from results limit 1")"

# Silence before the first launch.
cat >silent.c <<'C'
#include "host_select.h"
#include <unistd.h>
static int supports(void *self, const struct topk_problem *problem, char *why, size_t size)
{
    (void)self; (void)problem; (void)why; (void)size;
    for (;;) pause();
}
static const struct topk_provider provider = {.abi = TOPK_PROVIDER_ABI, .name = "silent", .version = "1", .memory = TOPK_MEMORY_HOST,
    .claims = {.level = TOPK_LEVEL_CANONICAL}, .open = plugin_open, .supports = supports, .launch = plugin_launch, .close = plugin_close};
const struct topk_provider *topk_provider_entry(void) { return &provider; }
C
tests=$(dirname "$0")/..
${CC:-cc} -D_GNU_SOURCE -shared -fPIC -I"$tests/plugins" -I"$tests/.." -o silent.so silent.c || fail "silent cannot be compiled"
expect 1 "$TOPKCTS" run 'ragged-rows' --jobs 1 --provider ./silent.so --inactivity 3 --db silent.db
[ "$(query silent.db "select count(*) from results where verdict = 'timeout' and reason like '%no sign of life for 3 s%'")" = 3 ] || fail "silence has no limit"

# Chatter while it is loaded is no time that passes.
cat >chatty.c <<'C'
#include "host_select.h"
#include <time.h>
#include <unistd.h>
__attribute__((constructor)) static void chat(void)
{
    for (int i = 0; i < 1500; i++) {
        if (write(1, "still loading\n", 14) < 0)
            break;
        nanosleep(&(struct timespec){0, 500000}, NULL);
    }
}
static const struct topk_provider provider = {.abi = TOPK_PROVIDER_ABI, .name = "chatty", .version = "1", .memory = TOPK_MEMORY_HOST,
    .claims = {.level = TOPK_LEVEL_CANONICAL}, .open = plugin_open, .launch = plugin_launch, .close = plugin_close};
const struct topk_provider *topk_provider_entry(void) { return &provider; }
C
${CC:-cc} -D_GNU_SOURCE -shared -fPIC -I"$tests/plugins" -I"$tests/.." -o chatty.so chatty.c || fail "chatty cannot be compiled"
expect 0 "$TOPKCTS" run 'ragged-rows' --jobs 1 --provider ./chatty.so --db chatty.db

# A program that never ends its first line: it is told of, and waited for as long as was asked.
begin=$(seconds)
expect 1 "$TOPKCTS" run 'ragged-rows' --jobs 1 --inactivity 6 --db hello.db \
    --provider 'process:printf "{\"say\": " >/proc/self/fd/${TOPKCTS_PROTOCOL_FDS#*,}; sleep 100'
[ $(($(seconds) - begin)) -le 30 ] || fail "a hello that never ends was waited for $(($(seconds) - begin)) s"
says "waiting for it to load, 5 of at most 6 s"
[ "$(query hello.db "select count(*) from results where verdict = 'timeout' and reason like '%took more than 6 s%'")" -ge 1 ] ||
    fail "a hello that never ends is no timeout: $(query hello.db "select verdict, reason from results limit 1")"

for option in --time-limit --case-timeout --inactivity; do
    expect 2 "$TOPKCTS" run --provider reference $option 0
    says "a number from 1"
    expect 2 "$TOPKCTS" run --provider reference $option soon
done
exit 0
