/* SPDX-License-Identifier: Apache-2.0 */
/* Trials in shared memory; see trial_memory.h. */
#include "harness/trial_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* What stands at the start; then the trials' places, their judgements, and the trials. */
struct head {
    uint64_t         n;
    _Atomic uint64_t next, beats, in_launch;
    uint64_t         judgements_at; /* bytes from the start */
    uint64_t         trial_at[];    /* [n] */
};

/* A trial as it lies in the memory; its problems follow, each with its arrays behind it. */
struct packed_trial {
    int32_t  n_problems, outputs, plan, repeats;
    uint32_t relations;
    uint64_t seed;
};

struct packed_problem {
    int64_t score_stride, page_table_stride;
    int32_t batch, topk, page_size, max_seq_len, base_shift;
};

enum { ALIGNMENT = 64 };

static size_t aligned(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static struct head *head_of(const struct trial_memory *memory)
{
    return (struct head *)(void *)memory->base;
}

static size_t problem_bytes(const struct case_inputs *inputs)
{
    return aligned(sizeof(struct packed_problem)) + aligned(case_scores_bytes(inputs)) +
           aligned(case_seq_lens_bytes(inputs)) + aligned(case_page_table_bytes(inputs));
}

static size_t batch_bytes(const struct trial *trials, size_t n)
{
    size_t bytes = aligned(sizeof(struct head) + n * sizeof(uint64_t)) + aligned(n * sizeof(struct judgement));
    for (size_t i = 0; i < n; i++) {
        bytes += aligned(sizeof(struct packed_trial));
        for (int32_t p = 0; p < trials[i].n_problems; p++)
            bytes += problem_bytes(&trials[i].problems[p]);
    }
    return bytes;
}

static enum status reserve(struct trial_memory *memory, size_t bytes, struct error *err)
{
    if (!memory->is_made) {
        memory->fd = memfd_create("topkcts trials", MFD_CLOEXEC);
        if (memory->fd < 0)
            return error_set(err, STATUS_BOOKS, "no memory to share with a worker: %s", strerror(errno));
        memory->is_made = true;
    }
    if (memory->bytes >= bytes)
        return STATUS_OK;
    if (memory->base)
        munmap(memory->base, memory->bytes);
    memory->base = NULL;
    memory->bytes = 0;
    size_t capacity = bytes + bytes / 4;
    /* Allocated, not only promised: a full /dev/shm is an error here instead of a signal later. */
    int    code = posix_fallocate(memory->fd, 0, (off_t)capacity);
    char  *base = code ? MAP_FAILED : mmap(NULL, capacity, PROT_READ | PROT_WRITE, MAP_SHARED, memory->fd, 0);
    if (base == MAP_FAILED)
        return error_set(err, STATUS_BOOKS, "no memory to share with a worker (%zu bytes): %s", capacity,
                         strerror(code ? code : errno));
    memory->base = base;
    memory->bytes = capacity;
    return STATUS_OK;
}

static char *pack_array(char *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return to + aligned(bytes);
}

static char *pack_problem(char *to, const struct case_inputs *inputs)
{
    *(struct packed_problem *)(void *)to = (struct packed_problem){
        .score_stride = inputs->score_stride,
        .page_table_stride = inputs->page_table_stride,
        .batch = inputs->batch,
        .topk = inputs->topk,
        .page_size = inputs->page_size,
        .max_seq_len = inputs->max_seq_len,
        .base_shift = inputs->base_shift,
    };
    to = pack_array(to + aligned(sizeof(struct packed_problem)), inputs->scores, case_scores_bytes(inputs));
    to = pack_array(to, inputs->seq_lens, case_seq_lens_bytes(inputs));
    return pack_array(to, inputs->page_table, case_page_table_bytes(inputs));
}

enum status trial_memory_pack(struct trial_memory *memory, const struct trial *trials, size_t n, struct error *err)
{
    if (reserve(memory, batch_bytes(trials, n), err))
        return err->status;
    struct head *head = head_of(memory);
    head->n = n;
    head->next = head->beats = head->in_launch = 0;
    head->judgements_at = aligned(sizeof *head + n * sizeof(uint64_t));
    char *at = memory->base + head->judgements_at;
    memset(at, 0, n * sizeof(struct judgement));
    at += aligned(n * sizeof(struct judgement));
    for (size_t i = 0; i < n; i++) {
        head->trial_at[i] = (uint64_t)(at - memory->base);
        *(struct packed_trial *)(void *)at = (struct packed_trial){
            .n_problems = trials[i].n_problems,
            .outputs = (int32_t)trials[i].outputs,
            .plan = (int32_t)trials[i].plan,
            .repeats = trials[i].repeats,
            .relations = trials[i].relations,
            .seed = trials[i].seed,
        };
        at += aligned(sizeof(struct packed_trial));
        for (int32_t p = 0; p < trials[i].n_problems; p++)
            at = pack_problem(at, &trials[i].problems[p]);
    }
    return STATUS_OK;
}

void trial_memory_path(const struct trial_memory *memory, char *path, size_t size)
{
    snprintf(path, size, "/proc/%ld/fd/%d", (long)getpid(), memory->fd);
}

enum status trial_memory_open(struct trial_memory *memory, const char *path, struct error *err)
{
    struct stat about;
    int         fd = open(path, O_RDWR | O_CLOEXEC);
    *memory = (struct trial_memory){.fd = -1};
    if (fd < 0 || fstat(fd, &about) != 0 || about.st_size < (off_t)sizeof(struct head)) {
        error_set(err, STATUS_BOOKS, "%s: the runner's memory cannot be opened: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return err->status;
    }
    char *base = mmap(NULL, (size_t)about.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (base == MAP_FAILED)
        return error_set(err, STATUS_BOOKS, "%s: the runner's memory cannot be mapped: %s", path, strerror(errno));
    memory->base = base;
    memory->bytes = (size_t)about.st_size;
    return STATUS_OK;
}

size_t trial_memory_count(const struct trial_memory *memory)
{
    return head_of(memory)->n;
}

size_t trial_memory_next(const struct trial_memory *memory)
{
    return head_of(memory)->next;
}

uint64_t trial_memory_beats(const struct trial_memory *memory)
{
    return head_of(memory)->beats;
}

bool trial_memory_in_launch(const struct trial_memory *memory)
{
    return head_of(memory)->in_launch != 0;
}

/* The inputs point into the memory, which nobody writes to. */
static char *unpack_problem(char *at, struct case_inputs *inputs)
{
    const struct packed_problem *packed = (const struct packed_problem *)(const void *)at;
    *inputs = (struct case_inputs){
        .score_stride = packed->score_stride,
        .page_table_stride = packed->page_table_stride,
        .batch = packed->batch,
        .topk = packed->topk,
        .page_size = packed->page_size,
        .max_seq_len = packed->max_seq_len,
        .base_shift = packed->base_shift,
    };
    at += aligned(sizeof *packed);
    inputs->scores = (uint32_t *)(void *)at;
    at += aligned(case_scores_bytes(inputs));
    inputs->seq_lens = (int32_t *)(void *)at;
    at += aligned(case_seq_lens_bytes(inputs));
    inputs->page_table = (int32_t *)(void *)at;
    return at + aligned(case_page_table_bytes(inputs));
}

void trial_memory_trial(const struct trial_memory *memory, size_t i, struct trial *trial,
                        struct case_inputs problems[TRIAL_MAX_PROBLEMS])
{
    char                      *at = memory->base + head_of(memory)->trial_at[i];
    const struct packed_trial *packed = (const struct packed_trial *)(void *)at;
    *trial = (struct trial){
        .problems = problems,
        .n_problems = packed->n_problems,
        .outputs = (enum outputs)packed->outputs,
        .plan = (enum trial_plan)packed->plan,
        .repeats = packed->repeats,
        .relations = packed->relations,
        .seed = packed->seed,
    };
    at += aligned(sizeof *packed);
    for (int32_t p = 0; p < trial->n_problems && p < TRIAL_MAX_PROBLEMS; p++)
        at = unpack_problem(at, &problems[p]);
}

void trial_memory_beat(struct trial_memory *memory, bool in_launch)
{
    struct head *head = head_of(memory);
    head->in_launch = in_launch;
    head->beats++;
}

struct judgement *trial_memory_judgement(struct trial_memory *memory, size_t i)
{
    return (struct judgement *)(void *)(memory->base + head_of(memory)->judgements_at) + i;
}

void trial_memory_finish(struct trial_memory *memory, size_t i)
{
    struct head *head = head_of(memory);
    head->next = i + 1;
    head->in_launch = false;
    head->beats++;
}

void trial_memory_skip(struct trial_memory *memory, size_t i)
{
    head_of(memory)->next = i + 1;
}

/* A number that is none of an enumeration becomes its first. */
static int in_range(int value, int n)
{
    return value >= 0 && value < n ? value : 0;
}

void trial_memory_read(const struct trial_memory *memory, size_t i, struct judgement *judgement)
{
    const struct judgement *from = (const struct judgement *)(const void *)(memory->base + head_of(memory)->judgements_at);
    memcpy(judgement, &from[i], sizeof *judgement);
    judgement->verdict = (enum verdict)in_range((int)judgement->verdict, VERDICT_COUNT);
    judgement->promised = (enum topk_level)in_range((int)judgement->promised, TOPK_LEVEL_CANONICAL + 1);
    judgement->level = (enum topk_level)in_range((int)judgement->level, TOPK_LEVEL_CANONICAL + 1);
    judgement->reason[sizeof judgement->reason - 1] = '\0';
    judgement->input_hash[sizeof judgement->input_hash - 1] = '\0';
    judgement->output_digest[sizeof judgement->output_digest - 1] = '\0';
    judgement->set_digest[sizeof judgement->set_digest - 1] = '\0';
    judgement->path[sizeof judgement->path - 1] = '\0';
    if (judgement->n_differences > JUDGE_MAX_DIFFERENCES)
        judgement->n_differences = 0;
    for (size_t d = 0; d < judgement->n_differences; d++) {
        judgement->differences[d].cut_value[sizeof judgement->differences[d].cut_value - 1] = '\0';
        judgement->differences[d].text[sizeof judgement->differences[d].text - 1] = '\0';
    }
}

void trial_memory_close(struct trial_memory *memory)
{
    if (memory->base)
        munmap(memory->base, memory->bytes);
    if (memory->is_made)
        close(memory->fd);
    *memory = (struct trial_memory){.fd = -1};
}
