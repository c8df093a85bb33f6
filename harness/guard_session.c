/* SPDX-License-Identifier: Apache-2.0 */
/* Measuring for a guard; see guard_session.h. Start reading at guard_measure(). */
#include "harness/guard_session.h"

#include "harness/clock.h"
#include "harness/interrupts.h"
#include "harness/stray.h"
#include "harness/worker_process.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PREPARE_MILLISECONDS = 300000, /* making the inputs of a case, or comparing its answer */
    CLOSE_MILLISECONDS = 2000,
    PILOT_SAMPLES = 3,
    N_PLACES = 2 * N_GUARD_ARMS
};

static const char *const arm_names[N_GUARD_ARMS] = {"the base", "the candidate", "the control (a copy of the base)"};

/* A session under way. */
struct measuring {
    struct guard_session   *session;
    const char             *words[N_GUARD_ARMS]; /* what each arm's worker is told to load */
    char                    folder[400], copy[700]; /* of the copied file; "" when there is none */
    bool                    did_without_copy;
    struct worker_process   workers[N_GUARD_ARMS];
    struct store_guard_leg *legs; /* of a round: [n_cells][N_PLACES] */
    struct launch_times    *times; /* likewise */
    int64_t                 started_ms;
    struct error           *err;
};

/* Ends the session with what happened; the first cause stays. Returns false, for `return stop(...)`. */
static bool stop(struct measuring *m, enum guard_verdict verdict, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool stop(struct measuring *m, enum guard_verdict verdict, const char *format, ...)
{
    struct guard_session *session = m->session;
    va_list               arguments;
    if (session->has_stopped)
        return false;
    session->has_stopped = true;
    session->verdict = verdict;
    va_start(arguments, format);
    vsnprintf(session->reason, sizeof session->reason, format, arguments);
    va_end(arguments);
    return false;
}

/* ---- the copy ----------------------------------------------------------------------------------------------------- */

static bool copy_file(const char *from, const char *to)
{
    char   bytes[65536];
    size_t n;
    FILE  *in = fopen(from, "rb"), *out = fopen(to, "wb");
    bool   whole = in && out;
    while (whole && (n = fread(bytes, 1, sizeof bytes, in)) > 0)
        whole = fwrite(bytes, 1, n, out) == n;
    whole = whole && !ferror(in);
    if (in)
        fclose(in);
    if (out && fclose(out) != 0)
        whole = false;
    return whole && chmod(to, 0500) == 0;
}

static void remove_copy(struct measuring *m)
{
    if (m->copy[0])
        unlink(m->copy);
    if (m->folder[0])
        rmdir(m->folder);
    m->copy[0] = m->folder[0] = '\0';
}

/* The control arm loads the base's very bytes from another place, where there is a file to copy. */
static void make_copy(struct measuring *m)
{
    struct guard_session *session = m->session;
    struct provider_name  name;
    struct error          ignored = {0};
    m->words[GUARD_BASE] = m->words[GUARD_COPY] = session->targets[0]->provider;
    m->words[GUARD_CANDIDATE] = session->targets[1]->provider;
    snprintf(session->control, sizeof session->control, "another process of the same provider");
    if (provider_find(session->targets[0]->provider, &name, &ignored) ||
        (name.kind != PROVIDER_PLUGIN && name.kind != PROVIDER_SOURCE))
        return;
    const char *slash = strrchr(name.text, '/');
    const char *temporary = getenv("TMPDIR");
    snprintf(m->folder, sizeof m->folder, "%s/topkcts-guard-XXXXXX", temporary && temporary[0] == '/' ? temporary : "/tmp");
    if (!mkdtemp(m->folder)) {
        m->folder[0] = '\0';
        return;
    }
    stray_keep_folder(m->folder);
    snprintf(m->copy, sizeof m->copy, "%s/%s", m->folder, slash ? slash + 1 : name.text);
    if (!copy_file(name.text, m->copy)) {
        remove_copy(m);
        return;
    }
    m->words[GUARD_COPY] = m->copy;
    snprintf(session->control, sizeof session->control, "a copy of the base's file");
}

/* ---- workers ------------------------------------------------------------------------------------------------------ */

/* Takes the next message of an arm that is not about a launch's beginning. `after_launch_ms`: how long it may take from
 * there on. */
static bool hear(struct measuring *m, enum guard_arm arm, const char *doing, int64_t limit_ms, int64_t after_launch_ms,
                 struct arena *arena, struct message *message)
{
    struct worker_process *worker = &m->workers[arm];
    int64_t                deadline = clock_ms() + limit_ms;
    char                   cause[256];
    for (;;) {
        enum worker_news news = worker_listen(worker, arena, message);
        if (news == WORKER_MESSAGE && message->kind == MESSAGE_LAUNCH)
            deadline = clock_ms() + (limit_ms = after_launch_ms);
        else if (news == WORKER_MESSAGE && message->kind == MESSAGE_CHECKING)
            deadline = clock_ms() + (limit_ms = PREPARE_MILLISECONDS);
        else if (news == WORKER_MESSAGE)
            return true;
        else if (news == WORKER_GONE) {
            worker_await_exit(worker);
            worker_cause(worker, cause, sizeof cause);
            if (worker_was_out_of_memory(worker))
                return stop(m, GUARD_CANNOT_TELL, "%s was killed for want of memory while %s", arm_names[arm], doing);
            return stop(m, GUARD_FAILED, "%s crashed while %s: %s", arm_names[arm], doing, cause);
        } else if (interrupts_so_far())
            return stop(m, GUARD_CANNOT_TELL, "interrupted after %zu rounds", m->session->rounds);
        else if (clock_ms() >= deadline)
            return stop(m, GUARD_FAILED, "%s took more than %.0f s while %s", arm_names[arm], (double)limit_ms / 1000,
                        doing);
        else
            worker_wait(&worker, 1, 200);
    }
}

static bool start(struct measuring *m, enum guard_arm arm)
{
    const struct guard_session *session = m->session;
    return !worker_start(&m->workers[arm], session->settings, m->words[arm], session->targets[arm == GUARD_CANDIDATE]->device,
                         plan_worker_memory(session->settings), m->err);
}

/* Waits until an arm's process has loaded its provider, and tells it to open. */
static bool loaded(struct measuring *m, enum guard_arm arm, struct arena *arena)
{
    static struct message message;
    const struct target  *target = m->session->targets[arm == GUARD_CANDIDATE];
    if (!hear(m, arm, "it was loaded", plan_load_milliseconds(m->session->settings, target->provider, target->device),
              0, arena, &message))
        return false;
    if (message.kind != MESSAGE_PROVIDER)
        return stop(m, GUARD_CANNOT_TELL, "%s cannot be loaded any more: %s", arm_names[arm], message.text);
    if (strcmp(message.provider.digest, target->description.digest) != 0)
        return stop(m, GUARD_CANNOT_TELL, "%s is another build than when the session began (digest %.8s, now %.8s)",
                    arm_names[arm], target->description.digest, message.provider.digest);
    message = (struct message){.kind = MESSAGE_OPEN};
    snprintf(message.text, sizeof message.text, "%s", target->device);
    worker_tell(&m->workers[arm], &message);
    return true;
}

static bool opened(struct measuring *m, enum guard_arm arm, struct arena *arena)
{
    static struct message message;
    const struct target  *target = m->session->targets[arm == GUARD_CANDIDATE];
    if (!hear(m, arm, "it was opened", plan_open_milliseconds(m->session->settings, target), 0, arena, &message))
        return false;
    if (message.kind == MESSAGE_OPENED)
        return true;
    return stop(m, message.kind == MESSAGE_FAILED ? GUARD_FAILED : GUARD_CANNOT_TELL, "%s cannot be opened: %s",
                arm_names[arm], message.text);
}

static void end_workers(struct measuring *m)
{
    bool in_peace = !m->session->has_stopped && !m->err->status;
    for (int arm = 0; arm < N_GUARD_ARMS; arm++)
        worker_stop(&m->workers[arm], in_peace ? CLOSE_MILLISECONDS : 0, NULL, 0);
}

/* A copy that cannot be loaded from where it lies (it finds other files relative to its own) is done without. */
static bool do_without_copy(struct measuring *m, struct arena *arena)
{
    struct guard_session *session = m->session;
    if (!m->copy[0] || m->err->status || interrupts_so_far())
        return false;
    m->did_without_copy = true;
    session->has_stopped = false;
    worker_stop(&m->workers[GUARD_COPY], 0, NULL, 0);
    remove_copy(m);
    m->words[GUARD_COPY] = session->targets[0]->provider;
    snprintf(session->control, sizeof session->control,
             "another process of the base's file (a copy of it cannot be loaded elsewhere)");
    return start(m, GUARD_COPY) && loaded(m, GUARD_COPY, arena) && opened(m, GUARD_COPY, arena);
}

/* Starts all arms side by side, since nothing is measured meanwhile, in the order of the round (-1: the pilot). */
static bool start_all(struct measuring *m, int32_t round, struct arena *arena)
{
    enum guard_arm order[N_PLACES];
    guard_order(round < 0 ? 0 : round, order); /* the pilot: base first, so that what ails both is told of the base */
    for (int i = 0; i < N_GUARD_ARMS; i++)
        if (!start(m, order[i]))
            return false;
    for (int i = 0; i < N_GUARD_ARMS; i++)
        if (!loaded(m, order[i], arena) && (round >= 0 || order[i] != GUARD_COPY || !do_without_copy(m, arena)))
            return false;
    for (int i = 0; i < N_GUARD_ARMS; i++) {
        bool is_done = order[i] == GUARD_COPY && round < 0 && m->did_without_copy;
        if (!is_done && !opened(m, order[i], arena) &&
            (round >= 0 || order[i] != GUARD_COPY || !do_without_copy(m, arena)))
            return false;
    }
    return true;
}

/* ---- legs --------------------------------------------------------------------------------------------------------- */

/* One order to one arm. */
static bool time_leg(struct measuring *m, enum guard_arm arm, const struct guard_cell *cell,
                     const struct launch_times_order *order, struct arena *arena, struct launch_times *times)
{
    static struct message message;
    const struct target  *target = m->session->targets[arm == GUARD_CANDIDATE];
    char                  doing[300];
    int64_t               launch_ms = plan_launch_milliseconds(m->session->settings, target);
    /* Three launches that may each take their time, then twenty times what the samples took in the pilot. */
    int64_t measured_ms = (int64_t)(20e-3 * cell->launch_us * order->calls * order->n_samples);
    snprintf(doing, sizeof doing, "timing %.200s with outputs %s", cell->concrete->name, outputs_text(cell->outputs));
    message = (struct message){.kind = MESSAGE_TIME, .concrete = cell->concrete, .order = *order};
    worker_tell(&m->workers[arm], &message);
    if (!hear(m, arm, doing, PREPARE_MILLISECONDS, 3 * launch_ms + measured_ms + (order->calls ? 0 : 5 * launch_ms), arena,
              &message))
        return false;
    if (message.kind != MESSAGE_TIMED)
        return stop(m, GUARD_CANNOT_TELL, "%s answered something else while %s", arm_names[arm], doing);
    *times = message.times;
    if (times->verdict == VERDICT_PASS)
        return true;
    return stop(m, times->verdict == VERDICT_FAIL ? GUARD_FAILED : GUARD_CANNOT_TELL, "%s, %s: %s", arm_names[arm], doing,
                times->reason);
}

static struct launch_times_order order_of(const struct guard_session *session, const struct guard_cell *cell)
{
    return (struct launch_times_order){.with_pages = cell->outputs != OUTPUTS_RAW,
                                       .with_raw = cell->outputs != OUTPUTS_PAGE,
                                       .cold = session->guard->cold,
                                       .calls = cell->calls,
                                       .n_samples = cell->n_samples};
}

/* Milliseconds of launches in a round with so many samples a leg. */
static double round_ms(const struct guard_session *session, int32_t n_samples)
{
    double ms = 0;
    for (size_t c = 0; c < session->n_cells; c++) {
        const struct guard_cell *cell = &session->cells[c];
        double                   unmeasured = 2.0 * (N_PLACES + N_GUARD_ARMS);
        ms += cell->launch_us / 1000 * (unmeasured + (double)N_PLACES * n_samples * cell->calls);
    }
    return ms;
}

/* As many samples a leg as leave time for enough rounds, since rounds are what counts; or the news that no number does. */
static bool choose_samples(struct measuring *m, int64_t start_ms)
{
    static const int32_t  choices[] = {KERNEL_TIME_MAX_SAMPLES, 9, 5, 3};
    enum { N_CHOICES = sizeof choices / sizeof choices[0], WANTED_ROUNDS = 2 * GUARD_LEAST_ROUNDS };
    struct guard_session *session = m->session;
    double                left = (double)(session->budget_ms - (clock_ms() - m->started_ms)), needed = 0;
    int                   i = 0;
    while (i < N_CHOICES - 1 && WANTED_ROUNDS * (round_ms(session, choices[i]) + (double)start_ms) > left)
        i++;
    for (size_t c = 0; c < session->n_cells; c++)
        session->cells[c].n_samples = choices[i];
    /* Workers may start faster once their files are in memory: only what launches alone take is certain. */
    needed = GUARD_LEAST_ROUNDS * round_ms(session, choices[i]);
    if (needed <= left)
        return true;
    return stop(m, GUARD_CANNOT_TELL, "%d rounds of %zu cells need more than %.0f s, and --seconds leaves %.0f: more seconds or "
                "fewer cases", GUARD_LEAST_ROUNDS, session->n_cells, needed / 1000, left > 0 ? left / 1000 : 0);
}

/* Every answer checked, every cell calibrated: all arms then launch equally often. */
static bool pilot(struct measuring *m)
{
    struct guard_session *session = m->session;
    struct arena          arena = {0};
    bool                  went_well = start_all(m, -1, &arena);
    int64_t               start_ms = clock_ms() - m->started_ms;
    for (size_t c = 0; c < session->n_cells && went_well; c++) {
        struct guard_cell *cell = &session->cells[c];
        int32_t            calls = 0;
        for (int arm = 0; arm < N_GUARD_ARMS && went_well; arm++) {
            struct launch_times       times = {0};
            struct launch_times_order order = order_of(session, cell);
            order.check = true;
            order.n_samples = PILOT_SAMPLES;
            order.calls = 0;
            went_well = time_leg(m, (enum guard_arm)arm, cell, &order, &arena, &times);
            if (!went_well)
                break;
            double us = guard_median(times.us, (size_t)times.n);
            calls = times.calls > calls ? times.calls : calls;
            cell->launch_us = us > cell->launch_us ? us : cell->launch_us;
            session->by_device = times.by_device;
        }
        cell->calls = calls;
        if (went_well && clock_ms() - m->started_ms > session->budget_ms)
            went_well = stop(m, GUARD_CANNOT_TELL, "the pilot alone used up the %.0f s of --seconds, %zu of %zu cells in",
                             (double)session->budget_ms / 1000, c + 1, session->n_cells);
    }
    went_well = went_well && choose_samples(m, start_ms);
    end_workers(m);
    arena_clear(&arena);
    return went_well;
}

static bool add_number(struct measuring *m, struct guard_numbers *numbers, double value)
{
    if ((numbers->n & (numbers->n - 1)) == 0) {
        double *larger = realloc(numbers->items, (numbers->n ? 2 * numbers->n : 1) * sizeof *larger);
        if (!larger) {
            error_no_memory(m->err);
            return false;
        }
        numbers->items = larger;
    }
    numbers->items[numbers->n++] = value;
    return true;
}

static void note_clock(struct guard_session *session, int32_t mhz)
{
    if (mhz <= 0)
        return;
    if (session->clock_mhz_low == 0 || mhz < session->clock_mhz_low)
        session->clock_mhz_low = mhz;
    if (mhz > session->clock_mhz_high)
        session->clock_mhz_high = mhz;
}

/* The six legs of one cell. All arms first prepare and warm up, then each leg finds them in the same state. */
static bool time_cell(struct measuring *m, int32_t round, size_t c, struct arena *arena)
{
    struct guard_session     *session = m->session;
    struct guard_cell        *cell = &session->cells[c];
    struct launch_times_order order = order_of(session, cell), prepare = order;
    struct launch_times       unused;
    enum guard_arm            arms[N_PLACES];
    guard_order(round, arms);
    prepare.n_samples = 0;
    for (int i = 0; i < N_GUARD_ARMS; i++)
        if (!time_leg(m, arms[i], cell, &prepare, arena, &unused))
            return false;
    for (int place = 0; place < N_PLACES; place++) {
        struct launch_times *times = &m->times[c * N_PLACES + (size_t)place];
        if (!time_leg(m, arms[place], cell, &order, arena, times))
            return false;
        note_clock(session, times->clock_mhz);
        m->legs[c * N_PLACES + (size_t)place] =
            (struct store_guard_leg){.cell = session->cell_ids[c], .round = round, .place = place, .arm = arms[place],
                                     .samples = times->us, .n_samples = (size_t)times->n, .clock_mhz = times->clock_mhz};
    }
    return true;
}

/* The medians of a whole round, once it is stored. */
static bool add_round(struct measuring *m, size_t c)
{
    struct guard_cell *cell = &m->session->cells[c];
    double             both[N_GUARD_ARMS][2 * KERNEL_TIME_MAX_SAMPLES], medians[N_GUARD_ARMS];
    size_t             n[N_GUARD_ARMS] = {0};
    for (int place = 0; place < N_PLACES; place++) {
        const struct store_guard_leg *leg = &m->legs[c * N_PLACES + (size_t)place];
        for (size_t i = 0; i < leg->n_samples; i++) {
            both[leg->arm][n[leg->arm]++] = leg->samples[i];
            if (!add_number(m, &cell->samples[leg->arm], leg->samples[i]))
                return false;
        }
    }
    for (int arm = 0; arm < N_GUARD_ARMS; arm++) {
        medians[arm] = guard_median(both[arm], n[arm]);
        if (!(medians[arm] > 0))
            return stop(m, GUARD_CANNOT_TELL, "%s: launches of %.200s take no time that the clock can tell",
                        arm_names[arm], cell->concrete->name);
    }
    return add_number(m, &cell->ratios, medians[GUARD_CANDIDATE] / medians[GUARD_BASE]) &&
           add_number(m, &cell->control_ratios, medians[GUARD_COPY] / medians[GUARD_BASE]) &&
           add_number(m, &cell->base_medians, medians[GUARD_BASE]);
}

/* Rounds take the cells from another place on each time, so that none always stands behind the start of the workers. */
static bool run_round(struct measuring *m, int32_t round)
{
    struct guard_session *session = m->session;
    struct arena          arena = {0};
    bool                  went_well = start_all(m, round, &arena);
    for (size_t i = 0; i < session->n_cells && went_well; i++)
        went_well = time_cell(m, round, (i + (size_t)round) % session->n_cells, &arena);
    end_workers(m);
    arena_clear(&arena);
    if (!went_well || store_guard_round(session->store, m->legs, session->n_cells * N_PLACES, m->err))
        return false;
    for (size_t c = 0; c < session->n_cells; c++)
        if (!add_round(m, c))
            return false;
    session->rounds++;
    return true;
}

/* The number of rounds depends on the clock alone, never on what they showed: looking at the verdict to decide whether
 * to go on would raise false alarms. */
static void run_rounds(struct measuring *m)
{
    struct guard_session *session = m->session;
    int64_t               longest = 0;
    while (session->rounds < GUARD_MOST_ROUNDS) {
        int64_t began = clock_ms();
        if (session->rounds > 0 && began - m->started_ms + longest > session->budget_ms)
            break;
        if (!run_round(m, (int32_t)session->rounds))
            return;
        int64_t took = clock_ms() - began;
        longest = took > longest ? took : longest;
        if (session->rounds == 1) {
            int64_t n = 1 + (session->budget_ms - (clock_ms() - m->started_ms)) / (took ? took : 1);
            fprintf(stderr, "guard: %zu cells, a round takes %.1f s, about %lld rounds\n", session->n_cells,
                    (double)took / 1000, (long long)(n > GUARD_MOST_ROUNDS ? GUARD_MOST_ROUNDS : n));
        }
    }
    if (session->rounds < GUARD_LEAST_ROUNDS)
        stop(m, GUARD_CANNOT_TELL, "%zu rounds fitted into the %.0f s of --seconds, %d are needed: the machine got slower on "
             "the way, or workers start slowly; more seconds or fewer cases", session->rounds,
             (double)session->budget_ms / 1000, GUARD_LEAST_ROUNDS);
}

enum status guard_measure(struct guard_session *session, struct error *err)
{
    struct measuring m = {.session = session, .started_ms = clock_ms(), .err = err};
    for (int t = 0; t < 2; t++)
        if (session->targets[t]->load_failure) {
            bool is_ours = session->targets[t]->load_verdict == VERDICT_CRASH || session->targets[t]->load_verdict == VERDICT_TIMEOUT;
            stop(&m, is_ours ? GUARD_FAILED : GUARD_CANNOT_TELL, "%s cannot be loaded: %s", arm_names[t],
                 session->targets[t]->load_failure);
            return STATUS_OK;
        }
    m.legs = calloc(session->n_cells * N_PLACES, sizeof *m.legs);
    m.times = calloc(session->n_cells * N_PLACES, sizeof *m.times);
    if (!m.legs || !m.times) {
        error_no_memory(err);
        goto done;
    }
    interrupts_catch();
    make_copy(&m);
    if (pilot(&m))
        run_rounds(&m);
    remove_copy(&m);
    interrupts_release();
done:
    free(m.legs);
    free(m.times);
    return err->status;
}

void guard_session_clear(struct guard_session *session)
{
    for (size_t c = 0; c < session->n_cells; c++) {
        struct guard_cell *cell = &session->cells[c];
        for (int arm = 0; arm < N_GUARD_ARMS; arm++)
            free(cell->samples[arm].items);
        free(cell->ratios.items);
        free(cell->control_ratios.items);
        free(cell->base_medians.items);
    }
}
