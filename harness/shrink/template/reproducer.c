#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "provider.h"
#ifdef TOPK_BUILTIN /* a planted fault that is linked in instead of loaded */
#include "kernels/builtin.h"
extern const struct builtin_provider TOPK_BUILTIN;
#endif

/* value, value + step, ...: bits of float32 scores, or entries of a page table. */
struct run {
    uint32_t value;
    int32_t  step, count;
};

/* The arrays of one launch, row by row, every column of the strides. */
struct input {
    int32_t           topk, page_size, batch, max_seq_len, base_shift;
    int64_t           score_stride, page_table_stride;
    const struct run *scores, *page_table; /* end with a count of 0 */
    const int32_t    *seq_lens;
};

/* DATA */
static const struct run     scores_0[] = {{0x40000000, 0, 2}, {0x3f800000, 0, 1}, {0, 0, 0}};
static const struct run     page_table_0[] = {{0, 1, 3}, {0, 0, 0}};
static const int32_t        seq_lens_0[] = {3};
static const struct input   inputs[] = {{2, 1, 1, 3, 0, 3, 3, scores_0, page_table_0, seq_lens_0}};
static const bool           asks_pages = true, asks_raw = true;
static const int            repeats = 3, seconds = 10;
static const char *const    name = "example";
/* END OF DATA */

enum { N_INPUTS = sizeof inputs / sizeof inputs[0], GUARD = 4096, PAGE = 4096 };
static const uint32_t POISON = 0xa5a5a5a5; /* negative, neither an index nor padding */

static const struct topk_provider *provider;
static void                       *self;
static const char                 *what = "loading"; /* for faults that end the process */

static void fault(const char *text)
{
    printf("FAULT in %s: %s: %s\n", name, what, text);
    fflush(stdout);
    _exit(1);
}

static void on_signal(int number)
{
    static const char crash[] = "FAULT: the launch crashed\n", hang[] = "FAULT: the launch did not end in time\n";
    ssize_t unused = number == SIGALRM ? write(1, hang, sizeof hang - 1) : write(1, crash, sizeof crash - 1);
    (void)unused;
    _exit(1);
}

static void *whole(void *memory)
{
    if (memory != NULL && memory != MAP_FAILED) return memory;
    fprintf(stderr, "out of memory\n");
    exit(2);
}

/* An array between two guard bands, or right before memory that may not be touched. */
struct array {
    char  *memory, *data;
    size_t bytes, size;
    bool   at_end;
};

static struct array array_make(size_t bytes, size_t shift, bool at_end)
{
    size_t room = ((at_end ? 0 : GUARD + 256) + GUARD + bytes + shift + PAGE - 1) / PAGE * PAGE;
    char  *memory = whole(mmap(NULL, room + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    struct array array = {memory, at_end ? memory + room - bytes : memory + GUARD + shift, bytes, room, at_end};
    memset(memory, 0xa5, room);
    if (mprotect(memory + room, PAGE, PROT_NONE) != 0) exit(2);
    return array;
}

static void array_check(const struct array *array, const void *contents, const char *of)
{
    char text[96];
    for (const char *at = array->memory; at < array->memory + array->size; at++)
        if ((at < array->data || at >= array->data + array->bytes) && (unsigned char)*at != 0xa5) {
            snprintf(text, sizeof text, "something was written outside %s", of);
            fault(text);
        }
    if (contents != NULL && memcmp(array->data, contents, array->bytes) != 0) {
        snprintf(text, sizeof text, "%s were changed", of);
        fault(text);
    }
}

static void array_free(struct array *array)
{
    munmap(array->memory, array->size + PAGE);
}

/* What a row holds and what is right for it. */
struct row {
    uint32_t *scores;     /* [score_stride] */
    int32_t  *page_table; /* [page_table_stride] */
    int32_t   told, n;
    int32_t  *expected;   /* [count]: the indices of the top k, ascending, lowest index first among equals */
    int32_t   count;
    uint32_t  cut;        /* the key at the cut */
};

static uint32_t key_of(uint32_t bits)
{
    bool is_nan = (bits & 0x7fffffff) > 0x7f800000;
    if (is_nan && provider->claims.nan == TOPK_NAN_LARGEST) return UINT32_MAX;
    if ((bits & 0x7fffffff) == 0 && provider->claims.zero == TOPK_ZERO_EQUAL) bits = 0;
    return bits >> 31 ? ~bits : bits | 0x80000000;
}

static bool is_selectable(uint32_t bits)
{
    return !((bits & 0x7fffffff) > 0x7f800000 && provider->claims.nan == TOPK_NAN_NEVER) &&
           !(bits == 0xff800000 && provider->claims.neg_inf == TOPK_NEG_INF_HOLE);
}

static const uint32_t *sorted_scores;

static int by_place(const void *a, const void *b)
{
    int32_t  i = *(const int32_t *)a, j = *(const int32_t *)b;
    uint32_t left = key_of(sorted_scores[i]), right = key_of(sorted_scores[j]);
    return left != right ? (left < right) - (left > right) : (i > j) - (i < j);
}

static int by_index(const void *a, const void *b)
{
    return (*(const int32_t *)a > *(const int32_t *)b) - (*(const int32_t *)a < *(const int32_t *)b);
}

static void answer(struct row *row, int32_t topk)
{
    int32_t n = 0;
    row->expected = whole(realloc(row->expected, ((size_t)row->n + 1) * sizeof *row->expected));
    for (int32_t i = 0; i < row->n; i++)
        if (is_selectable(row->scores[i])) row->expected[n++] = i;
    sorted_scores = row->scores;
    qsort(row->expected, (size_t)n, sizeof *row->expected, by_place);
    row->count = n < topk ? n : topk;
    row->cut = row->count > 0 ? key_of(row->scores[row->expected[row->count - 1]]) : 0;
    qsort(row->expected, (size_t)row->count, sizeof *row->expected, by_index);
}

static uint32_t *expand(const struct run *runs, size_t n)
{
    uint32_t *values = whole(malloc((n + 1) * sizeof *values));
    size_t    at = 0;
    for (; runs->count > 0; runs++)
        for (int32_t i = 0; i < runs->count && at < n; i++) values[at++] = runs->value + (uint32_t)(i * runs->step);
    return values;
}

static struct row *rows_of(const struct input *input)
{
    struct row *rows = whole(calloc((size_t)input->batch, sizeof *rows));
    uint32_t   *scores = expand(input->scores, (size_t)(input->batch * input->score_stride));
    int32_t    *table = (int32_t *)expand(input->page_table, (size_t)(input->batch * input->page_table_stride));
    for (int32_t r = 0; r < input->batch; r++) {
        rows[r].scores = scores + r * input->score_stride;
        rows[r].page_table = table + r * input->page_table_stride;
        rows[r].told = input->seq_lens[r];
        rows[r].n = rows[r].told < 0 ? 0 : rows[r].told > input->max_seq_len ? input->max_seq_len : rows[r].told;
        answer(&rows[r], input->topk);
    }
    return rows;
}

/* How a launch is laid out. */
struct form {
    const char    *what;
    const int32_t *order; /* which row stands where; NULL: as they are */
    int32_t        batch;
    int32_t        extra_stride, extra_table, extra_shift;
    bool           at_end;
};

static int32_t slots_promised(const struct row *row, int32_t topk)
{
    return provider->claims.padding == TOPK_PADDING_MINUS_ONE || row->n >= topk ? topk : row->n;
}

static int32_t index_of_page(const struct input *input, const struct row *row, int32_t page)
{
    for (int64_t p = 0; page >= 0 && p * input->page_size < input->max_seq_len; p++)
        if (row->page_table[p] == page / input->page_size) return (int32_t)(p * input->page_size + page % input->page_size);
    return -1;
}

/* Everything one row of one launch must be by the claims. */
static void check_row(const struct input *input, const struct row *row, int32_t r, const int32_t *pages,
                      const int32_t *raw)
{
    char     text[200];
    int32_t  above = 0;
    bool     lowest = provider->claims.tie == TOPK_TIE_LOWEST && provider->claims.nan != TOPK_NAN_ANY;
    int32_t *chosen = whole(calloc((size_t)input->topk + 1, sizeof *chosen));
    for (int32_t j = 0; j < slots_promised(row, input->topk); j++) {
        int32_t index = raw != NULL ? raw[j] : pages != NULL ? index_of_page(input, row, pages[j]) : -1;
        int32_t page = index < 0 ? -1
                       : row->page_table[index / input->page_size] * input->page_size + index % input->page_size;
        snprintf(text, sizeof text, "row %d, slot %d: ", r, j);
        size_t used = strlen(text);
        if ((pages != NULL && (uint32_t)pages[j] == POISON) || (raw != NULL && (uint32_t)raw[j] == POISON))
            snprintf(text + used, sizeof text - used, "nothing was written");
        else if (j >= row->count && ((raw != NULL && raw[j] != -1) || (pages != NULL && pages[j] != -1)))
            snprintf(text + used, sizeof text - used, "%d where -1 pads", raw != NULL ? raw[j] : pages[j]);
        else if (j < row->count && (index < 0 || index >= row->n || !is_selectable(row->scores[index])))
            snprintf(text + used, sizeof text - used, "%d is no index of the row's %d", raw != NULL ? raw[j] : pages[j], row->n);
        else if (pages != NULL && pages[j] != page)
            snprintf(text + used, sizeof text - used, "page index %d where index %d maps to %d", pages[j], index, page);
        else if (j < row->count && lowest && provider->claims.level == TOPK_LEVEL_CANONICAL && index != row->expected[j])
            snprintf(text + used, sizeof text - used, "index %d where %d is right", index, row->expected[j]);
        else {
            if (j < row->count) chosen[j] = index;
            continue;
        }
        fault(text);
    }
    qsort(chosen, (size_t)row->count, sizeof *chosen, by_index);
    for (int32_t j = 0; j < row->count; j++) {
        uint32_t key = key_of(row->scores[chosen[j]]);
        snprintf(text, sizeof text, "row %d: index %d is selected and %s", r, chosen[j],
                 j > 0 && chosen[j] == chosen[j - 1] ? "stands there twice"
                 : key < row->cut                    ? "its score is below the cut"
                                                     : "a lower index with the same score is not");
        if ((j > 0 && chosen[j] == chosen[j - 1]) || (provider->claims.nan != TOPK_NAN_ANY && key < row->cut) ||
            (lowest && chosen[j] != row->expected[j]))
            fault(text);
        above += key > row->cut;
    }
    for (int32_t j = 0; j < row->count; j++) above -= key_of(row->scores[row->expected[j]]) > row->cut;
    if (above != 0 && provider->claims.nan != TOPK_NAN_ANY) {
        snprintf(text, sizeof text, "row %d: a score above the cut is not selected", r);
        fault(text);
    }
    free(chosen);
}

/* Launches, checks, and gives the outputs back: [2][batch][topk], pages then raw. */
static int32_t *launch(const struct input *input, const struct row *rows, struct form form)
{
    int32_t batch = form.order != NULL ? form.batch : input->batch;
    int64_t stride = input->score_stride + form.extra_stride, table_stride = input->page_table_stride + form.extra_table;
    size_t  score_bytes = (size_t)(batch * stride) * 4, table_bytes = (size_t)(batch * table_stride) * 4;
    size_t  slots = (size_t)batch * (size_t)input->topk;
    char   *score_image = whole(malloc(score_bytes + 4)), *table_image = whole(malloc(table_bytes + 4)), err[256] = "";
    int32_t *lengths = whole(calloc((size_t)batch + 1, 4)), *outputs = whole(calloc(2 * slots + 1, 4));
    what = form.what;
    for (size_t i = 0; i < score_bytes / 4; i++) memcpy(score_image + 4 * i, &(uint32_t){0x7f800000}, 4);
    memset(table_image, 0x85, table_bytes);
    for (int32_t place = 0; place < batch; place++) {
        const struct row *row = &rows[form.order != NULL ? form.order[place] : place];
        memcpy(score_image + place * stride * 4, row->scores, (size_t)input->score_stride * 4);
        memcpy(table_image + place * table_stride * 4, row->page_table, (size_t)input->page_table_stride * 4);
        lengths[place] = row->told;
    }
    struct array scores = array_make(score_bytes, (size_t)(input->base_shift + form.extra_shift) * 4, form.at_end);
    struct array table = array_make(table_bytes, 0, form.at_end), told = array_make((size_t)batch * 4, 0, false);
    struct array pages = array_make(slots * 4, 0, false), raw = array_make(slots * 4, 0, false);
    memcpy(scores.data, score_image, score_bytes);
    memcpy(table.data, table_image, table_bytes);
    memcpy(told.data, lengths, (size_t)batch * 4);
    struct topk_problem problem = {.scores = (const float *)scores.data,
                                   .seq_lens = (const int32_t *)told.data,
                                   .page_table = (const int32_t *)table.data,
                                   .page_indices = asks_pages ? (int32_t *)pages.data : NULL,
                                   .raw_indices = asks_raw ? (int32_t *)raw.data : NULL,
                                   .score_stride = stride,
                                   .page_table_stride = table_stride,
                                   .batch = batch,
                                   .topk = input->topk,
                                   .page_size = input->page_size,
                                   .max_seq_len = input->max_seq_len};
    size_t              needed = provider->workspace_bytes != NULL ? provider->workspace_bytes(self, &problem) : 0;
    static struct array workspace; /* shared by all launches, as their contents are undefined at entry */
    if (needed > workspace.bytes) workspace = array_make(needed, 0, false);
    problem.workspace = needed > 0 ? workspace.data : NULL;
    if (provider->supports == NULL || provider->supports(self, &problem, err, sizeof err) == 1) {
        alarm((unsigned)seconds);
        if (provider->launch(self, &problem, err, sizeof err) != 0) fault(err);
        alarm(0);
        for (int32_t place = 0; place < batch; place++)
            check_row(input, &rows[form.order != NULL ? form.order[place] : place], place,
                      asks_pages ? (int32_t *)pages.data + (int64_t)place * input->topk : NULL,
                      asks_raw ? (int32_t *)raw.data + (int64_t)place * input->topk : NULL);
    }
    memcpy(outputs, pages.data, slots * 4);
    memcpy(outputs + slots, raw.data, slots * 4);
    array_check(&scores, score_image, "the scores");
    array_check(&table, table_image, "the page table");
    array_check(&told, lengths, "the lengths");
    array_check(&pages, NULL, "the page indices");
    array_check(&raw, NULL, "the raw indices");
    array_free(&scores), array_free(&table), array_free(&told), array_free(&pages), array_free(&raw);
    free(score_image), free(table_image), free(lengths);
    return outputs;
}

static struct row *rows_before[N_INPUTS];

/* The launches before, then this one. */
static int32_t *launch_all(const struct row *rows, struct form form)
{
    for (int i = 0; i + 1 < N_INPUTS; i++)
        free(launch(&inputs[i], rows_before[i], (struct form){.what = "an earlier launch"}));
    return launch(&inputs[N_INPUTS - 1], rows, form);
}

/* Row `r` of one launch and row `place` of another must be the same bytes. */
static void compare(const struct row *rows, const int32_t *first, int32_t r, const int32_t *other, int32_t place,
                    int32_t other_batch, enum topk_level level)
{
    const struct input *input = &inputs[N_INPUTS - 1];
    size_t              topk = (size_t)input->topk, bytes = (size_t)slots_promised(&rows[r], input->topk) * 4;
    if (provider->claims.level < level) return;
    if (memcmp(first + (size_t)r * topk, other + (size_t)place * topk, asks_pages ? bytes : 0) != 0 ||
        memcmp(first + ((size_t)input->batch + (size_t)r) * topk, other + ((size_t)other_batch + (size_t)place) * topk,
               asks_raw ? bytes : 0) != 0)
        fault(level == TOPK_LEVEL_REPEATABLE ? "the same launch gives other bytes than before"
                                             : "a row gives other bytes than in the plain launch");
}

/* One form of the last launch, row by row against the plain one. */
static void launch_other(const struct row *rows, const int32_t *first, struct form form)
{
    int32_t  batch = form.order != NULL ? form.batch : inputs[N_INPUTS - 1].batch;
    int32_t *other = launch_all(rows, form);
    for (int32_t place = 0; place < batch; place++)
        compare(rows, first, form.order != NULL ? form.order[place] : place, other, place, batch, TOPK_LEVEL_INVARIANT);
    free(other);
}

static void launch_forms(struct row *rows)
{
    const struct input *input = &inputs[N_INPUTS - 1];
    int32_t            *order = whole(calloc((size_t)input->batch + 1, sizeof *order));
    int32_t            *first = launch_all(rows, (struct form){.what = "the launch itself"});
    for (int i = 1; i < repeats; i++) {
        int32_t *again = launch_all(rows, (struct form){.what = "the launch itself, again"});
        for (int32_t r = 0; r < input->batch; r++)
            compare(rows, first, r, again, r, input->batch, TOPK_LEVEL_REPEATABLE);
        free(again);
    }
    for (int32_t r = 0; r < input->batch; r++) order[r] = (r + 1) % input->batch;
    launch_other(rows, first, (struct form){.what = "rows rotated by one", .order = order, .batch = input->batch});
    if (input->batch == 1) { /* other contents in the same place */
        for (int32_t i = 0, j = rows->n - 1; i < j; i++, j--) {
            uint32_t score = rows->scores[i];
            rows->scores[i] = rows->scores[j];
            rows->scores[j] = score;
        }
        answer(rows, input->topk);
        free(launch_all(rows, (struct form){.what = "the row reversed"}));
        for (int32_t i = 0, j = rows->n - 1; i < j; i++, j--) {
            uint32_t score = rows->scores[i];
            rows->scores[i] = rows->scores[j];
            rows->scores[j] = score;
        }
        answer(rows, input->topk);
    }
    launch_other(rows, first, (struct form){.what = "the launch itself, after other contents"});
    for (int32_t r = 0; r < input->batch; r++) order[r] = input->batch - 1 - r;
    launch_other(rows, first, (struct form){.what = "rows in reverse order", .order = order, .batch = input->batch});
    for (int32_t r = 0; r < input->batch; r++) order[r] = r % 2 ? 0 : r;
    launch_other(rows, first, (struct form){.what = "every second row replaced", .order = order, .batch = input->batch});
    for (int32_t r = 0; r < input->batch; r++)
        launch_other(rows, first, (struct form){.what = "a row alone", .order = &r, .batch = 1});
    launch_other(rows, first, (struct form){.what = "another base and stride", .extra_stride = 5, .extra_table = 3,
                                            .extra_shift = 1});
    launch_other(rows, first, (struct form){.what = "inputs at the end of memory", .at_end = true});
    free(order);
    free(first);
}

int main(int argc, char **argv)
{
    char        err[256] = "";
    static char stack[1 << 16];
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    for (int i = 0; i < 5; i++) {
        struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
        sigaction((const int[]){SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGALRM}[i], &action, NULL);
    }
#ifdef TOPK_BUILTIN
    (void)argc, (void)argv;
    provider = TOPK_BUILTIN.provider;
#else
    void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (library == NULL) {
        fprintf(stderr, "usage: %s ./plugin.so: %s\n", argv[0], argc == 2 ? dlerror() : "one argument is needed");
        return 2;
    }
    const struct topk_provider *(*entry)(void) = NULL;
    void *found = dlsym(library, "topk_provider_entry");
    memcpy(&entry, &found, sizeof entry);
    provider = entry != NULL ? entry() : NULL;
#endif
    if (provider == NULL || provider->abi != TOPK_PROVIDER_ABI || provider->memory != TOPK_MEMORY_HOST) {
        fprintf(stderr, "no provider of this ABI that works in host memory; use topkcts run\n");
        return 2;
    }
    if (provider->open != NULL && provider->open(0, &self, err, sizeof err) != 0) fault(err);
    for (int i = 0; i < N_INPUTS; i++) rows_before[i] = rows_of(&inputs[i]);
    launch_forms(rows_before[N_INPUTS - 1]);
    what = "closing";
    if (provider->close != NULL) provider->close(self);
    printf("ok: %s is right on %s\n", provider->name, name);
    return 0;
}
