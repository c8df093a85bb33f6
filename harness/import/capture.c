/* SPDX-License-Identifier: Apache-2.0 */
/* From files to the inputs of one case; see capture.h. Start reading at capture_read(). */
#include "harness/import/capture.h"

#include "cases/given.h"
#include "harness/name_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum role { ROLE_SCORES, ROLE_SEQ_LENS, ROLE_PAGE_TABLE, N_ROLES };

static const char *const role_names[N_ROLES] = {"scores", "seq_lens", "page_table"};

/* What models and servers call them. */
static const char *const known_names[N_ROLES][6] = {
    {"scores", "score", "logits", NULL},
    {"seq_lens", "seqlens", "seq_len", "lengths", "context_lens", NULL},
    {"page_table", "page_tables", "block_table", "block_tables", NULL}};

struct reading_capture {
    const struct settings *settings;
    struct arena          *arena;
    struct capture        *capture;
    struct tensor_list     tensors;
    const struct tensor   *roles[N_ROLES];
    int64_t                first_row, n_rows; /* which rows of the tensors are taken */
    struct error          *err;
};

static bool ends_in(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

static enum status read_description(struct reading_capture *reading, const char *path)
{
    json_error_t cause;
    if (reading->capture->described)
        return error_set(reading->err, STATUS_USAGE, "%s: a second case.json; one is enough", path);
    reading->capture->described = json_load_file(path, JSON_REJECT_DUPLICATES, &cause);
    if (!json_is_object(reading->capture->described))
        return error_set(reading->err, STATUS_USAGE, "%s:%d: no JSON object: %s", path, cause.line,
                         reading->capture->described ? "it is a list or a single value" : cause.text);
    return STATUS_OK;
}

/* A folder that `show --dump` wrote, or one that looks like it. */
static enum status read_folder(struct reading_capture *reading, const char *folder)
{
    static const char *const names[] = {"scores.npy", "seq_lens.npy", "page_table.npy"};
    const char              *description = arena_format(reading->arena, "%s/case.json", folder);
    size_t                   before = reading->tensors.n;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !reading->err->status; i++) {
        const char *path = arena_format(reading->arena, "%s/%s", folder, names[i]);
        if (access(path, F_OK) == 0)
            tensor_file_list(path, reading->arena, &reading->tensors, reading->err);
    }
    if (!reading->err->status && reading->tensors.n == before)
        return error_set(reading->err, STATUS_USAGE, "%s: a folder without scores.npy; name the files themselves", folder);
    return !reading->err->status && access(description, F_OK) == 0 ? read_description(reading, description)
                                                                     : reading->err->status;
}

static enum status read_files(struct reading_capture *reading)
{
    const struct settings *settings = reading->settings;
    const char            *files = "";
    if (settings->words.n == 0)
        return error_set(reading->err, STATUS_USAGE,
                         "import takes files: scores.npy seq_lens.npy page_table.npy, one .npz or .safetensors, or a folder "
                         "that 'topkcts show CASE --dump DIR' wrote");
    for (size_t i = 0; i < settings->words.n && !reading->err->status; i++) {
        const char *path = settings->words.items[i];
        struct stat attributes;
        const char *slash = strrchr(path, '/');
        files = arena_format(reading->arena, "%s%s%s", files, i ? ", " : "", slash && slash[1] ? slash + 1 : path);
        if (stat(path, &attributes) == 0 && S_ISDIR(attributes.st_mode))
            read_folder(reading, path);
        else if (ends_in(path, ".json"))
            read_description(reading, path);
        else
            tensor_file_list(path, reading->arena, &reading->tensors, reading->err);
    }
    reading->capture->files = files;
    return reading->err->status;
}

/* "layers.3.indexer.scores" ends in the name "scores". */
static bool is_called(const struct tensor *tensor, const char *name)
{
    size_t length = strlen(tensor->name), n = strlen(name);
    return ends_in(tensor->name, name) && (length == n || strchr("./", tensor->name[length - n - 1]));
}

static enum status take_role(struct reading_capture *reading, enum role role, const struct tensor *tensor)
{
    if (reading->roles[role])
        return error_set(reading->err, STATUS_USAGE,
                         "both tensor '%s' and tensor '%s' may be %s; say which: --tensor %s=NAME",
                         reading->roles[role]->name, tensor->name, role_names[role], role_names[role]);
    reading->roles[role] = tensor;
    return STATUS_OK;
}

/* The names of all tensors, for messages. */
static const char *listed(struct reading_capture *reading)
{
    struct name_list names = {0};
    for (size_t i = 0; i < reading->tensors.n; i++) {
        char shape[TENSOR_TEXT_BYTES];
        tensor_describe(&reading->tensors.items[i], shape);
        name_list_add(&names, "%s (%s)", reading->tensors.items[i].name, shape);
    }
    return arena_text(reading->arena, names.text);
}

/* --tensor ROLE=NAME */
static enum status take_named(struct reading_capture *reading, const char *word)
{
    const char *equals = strchr(word, '=');
    int         role = 0;
    while (role < N_ROLES && (!equals || strncmp(word, role_names[role], (size_t)(equals - word)) != 0 ||
                              role_names[role][equals - word] != '\0'))
        role++;
    if (role == N_ROLES)
        return error_set(reading->err, STATUS_USAGE, "--tensor %s: ROLE=NAME is accepted, ROLE being scores, seq_lens or "
                         "page_table", word);
    for (size_t i = 0; i < reading->tensors.n; i++)
        if (strcmp(reading->tensors.items[i].name, equals + 1) == 0)
            return take_role(reading, (enum role)role, &reading->tensors.items[i]);
    return error_set(reading->err, STATUS_USAGE, "--tensor %s: no tensor of that name; there are %s", word, listed(reading));
}

static enum status find_roles(struct reading_capture *reading)
{
    bool named[N_ROLES] = {false};
    for (size_t i = 0; i < reading->settings->tensors.n; i++)
        if (take_named(reading, reading->settings->tensors.items[i]))
            return reading->err->status;
    for (int role = 0; role < N_ROLES; role++)
        named[role] = reading->roles[role] != NULL;
    for (size_t i = 0; i < reading->tensors.n; i++)
        for (int role = 0; role < N_ROLES; role++)
            for (int n = 0; !named[role] && known_names[role][n]; n++)
                if (is_called(&reading->tensors.items[i], known_names[role][n]) &&
                    take_role(reading, (enum role)role, &reading->tensors.items[i]))
                    return reading->err->status;
    if (!reading->roles[ROLE_SCORES] && reading->tensors.n == 1)
        reading->roles[ROLE_SCORES] = &reading->tensors.items[0];
    if (!reading->roles[ROLE_SCORES])
        return error_set(reading->err, STATUS_USAGE,
                         "no tensor is called scores or logits; say which it is: --tensor scores=NAME; there are %s",
                         reading->tensors.n ? listed(reading) : "none");
    return STATUS_OK;
}

/* A number from the command line, else from case.json, else `otherwise`. */
static int64_t number_or(const struct reading_capture *reading, int64_t given, const char *key, int64_t otherwise)
{
    const json_t *value = json_object_get(reading->capture->described, key);
    return given ? given : json_is_integer(value) ? (int64_t)json_integer_value(value) : otherwise;
}

static enum status wrong_shape(const struct reading_capture *reading, enum role role, const char *right)
{
    char text[TENSOR_TEXT_BYTES];
    tensor_describe(reading->roles[role], text);
    return error_set(reading->err, STATUS_USAGE, "%s: tensor '%s' is %s; %s is %s", reading->roles[role]->file,
                     reading->roles[role]->name, text, role_names[role], right);
}

/* --rows N or --rows FIRST-LAST, counted from 0. */
static enum status choose_rows(struct reading_capture *reading, int64_t batch)
{
    const char *text = reading->settings->rows;
    reading->first_row = 0;
    reading->n_rows = batch;
    if (!text)
        return STATUS_OK;
    char     *end;
    long long first = strtoll(text, &end, 10), last = *end == '-' ? strtoll(end + 1, &end, 10) : first;
    if (*end || first < 0 || last < first || last >= batch || strspn(text, "0123456789-") != strlen(text))
        return error_set(reading->err, STATUS_USAGE, "--rows %s: a row or FIRST-LAST is accepted, from 0 to %lld", text,
                         (long long)batch - 1);
    reading->first_row = first;
    reading->n_rows = last - first + 1;
    return STATUS_OK;
}

/* Reads the scores; this settles batch and stride. */
static enum status read_scores(struct reading_capture *reading)
{
    const struct tensor *tensor = reading->roles[ROLE_SCORES];
    struct case_inputs  *inputs = &reading->capture->inputs;
    void                *elements = NULL;
    if (tensor->n_dims < 1 || tensor->n_dims > 2)
        return wrong_shape(reading, ROLE_SCORES, "[batch, columns] or [columns]");
    int64_t batch = tensor->n_dims == 2 ? tensor->shape[0] : 1, columns = tensor->shape[tensor->n_dims - 1];
    if (batch < 1 || columns < 1 || batch > INT32_MAX || columns > INT32_MAX)
        return wrong_shape(reading, ROLE_SCORES, "of at least one row and one column");
    if (!score_type_text(tensor)) /* before anything is read */
        return score_bits(tensor, NULL, 0, NULL, reading->err);
    if (choose_rows(reading, batch))
        return reading->err->status;
    if (reading->n_rows > GIVEN_MAX_BYTES / (int64_t)sizeof(uint32_t) / columns)
        return error_set(reading->err, STATUS_USAGE,
                         "%s: tensor '%s': %lld rows of %lld scores are %lld MiB as float32; a case holds at most %lld MiB: "
                         "take some of the rows with --rows FIRST-LAST", tensor->file, tensor->name,
                         (long long)reading->n_rows, (long long)columns,
                         (long long)((reading->n_rows * columns) >> 18), (long long)(GIVEN_MAX_BYTES >> 20));
    if (tensor_read(tensor, &elements, reading->err))
        return reading->err->status;
    inputs->batch = (int32_t)reading->n_rows;
    inputs->score_stride = columns;
    inputs->scores = malloc(case_scores_bytes(inputs));
    const char *first = (const char *)elements + reading->first_row * columns * tensor->element_bytes;
    if (!inputs->scores)
        error_no_memory(reading->err);
    else
        score_bits(tensor, first, reading->n_rows * columns, inputs->scores, reading->err);
    reading->capture->score_type = score_type_text(tensor);
    free(elements);
    return reading->err->status;
}

/* One element of an integer tensor; false when int32 does not hold it. */
static bool integer_at(const struct tensor *tensor, const void *elements, int64_t i, int64_t *value)
{
    const unsigned char *at = (const unsigned char *)elements + i * tensor->element_bytes;
    uint64_t             raw = 0;
    memcpy(&raw, at, (size_t)tensor->element_bytes);
    int unused = 64 - 8 * tensor->element_bytes;
    *value = tensor->kind == TENSOR_UNSIGNED ? (int64_t)raw : (int64_t)(raw << unused) >> unused;
    return *value >= INT32_MIN && *value <= INT32_MAX;
}

/* An integer tensor, or the rows of it that are taken, as int32: *out malloc'd. */
static enum status read_integers(struct reading_capture *reading, enum role role, int64_t columns, int32_t **out)
{
    const struct tensor *tensor = reading->roles[role];
    void                *elements = NULL;
    int64_t              n = reading->n_rows * columns, value = 0;
    bool                 fits = true;
    if ((tensor->kind != TENSOR_INTEGER && tensor->kind != TENSOR_UNSIGNED) || tensor->element_bytes > 8)
        return wrong_shape(reading, role, "of an integer type");
    if (tensor_read(tensor, &elements, reading->err))
        return reading->err->status;
    *out = calloc((size_t)(n + 1), sizeof **out);
    if (!*out)
        error_no_memory(reading->err);
    for (int64_t i = 0; *out && i < n && fits; i++) {
        fits = integer_at(tensor, elements, reading->first_row * columns + i, &value);
        (*out)[i] = (int32_t)value;
        if (!fits)
            error_set(reading->err, STATUS_USAGE, "%s: tensor '%s', row %lld: %lld does not fit int32", tensor->file,
                      tensor->name, (long long)(reading->first_row + i / columns), (long long)value);
    }
    free(elements);
    return reading->err->status;
}

/* Lengths and the row width. */
static enum status read_lengths(struct reading_capture *reading)
{
    struct case_inputs *inputs = &reading->capture->inputs;
    int64_t             batch = reading->roles[ROLE_SCORES]->n_dims == 2 ? reading->roles[ROLE_SCORES]->shape[0] : 1;
    int64_t             longest = 0;
    if (reading->roles[ROLE_SEQ_LENS]) {
        const struct tensor *tensor = reading->roles[ROLE_SEQ_LENS];
        if (tensor->n_dims != 1 || tensor->shape[0] != batch)
            return wrong_shape(reading, ROLE_SEQ_LENS,
                               arena_format(reading->arena, "[%lld], one length for each row of scores", (long long)batch));
        if (read_integers(reading, ROLE_SEQ_LENS, 1, &inputs->seq_lens))
            return reading->err->status;
        for (int32_t row = 0; row < inputs->batch; row++)
            longest = inputs->seq_lens[row] > longest ? inputs->seq_lens[row] : longest;
        longest = longest > inputs->score_stride ? inputs->score_stride : longest;
    } else {
        longest = inputs->score_stride;
    }
    int64_t width = number_or(reading, reading->settings->width, "max_seq_len", longest);
    if (width < 0 || width > inputs->score_stride)
        return error_set(reading->err, STATUS_USAGE, "a row width (max_seq_len) of %lld: the scores have %lld columns",
                         (long long)width, (long long)inputs->score_stride);
    inputs->max_seq_len = (int32_t)width;
    if (inputs->seq_lens)
        return STATUS_OK;
    inputs->seq_lens = malloc(case_seq_lens_bytes(inputs));
    if (!inputs->seq_lens)
        return error_no_memory(reading->err);
    for (int32_t row = 0; row < inputs->batch; row++)
        inputs->seq_lens[row] = inputs->max_seq_len;
    return STATUS_OK;
}

static enum status read_page_table(struct reading_capture *reading)
{
    const struct tensor *tensor = reading->roles[ROLE_PAGE_TABLE];
    struct case_inputs  *inputs = &reading->capture->inputs;
    int64_t              batch = reading->roles[ROLE_SCORES]->n_dims == 2 ? reading->roles[ROLE_SCORES]->shape[0] : 1;
    int64_t              page_size = number_or(reading, reading->settings->page_size, "page_size", tensor ? 0 : 64);
    if (page_size < 1 || page_size > 1 << 20 || (page_size & (page_size - 1)))
        return error_set(reading->err, STATUS_USAGE,
                         page_size ? "a page size of %lld: a power of two up to 1048576 is accepted"
                                   : "a page table needs the page size that it was made for: --page-size N",
                         (long long)page_size);
    inputs->page_size = (int32_t)page_size;
    if (!tensor)
        return STATUS_OK;
    int64_t entries = tensor->n_dims == 2 ? tensor->shape[1] : 0;
    if (tensor->n_dims != 2 || tensor->shape[0] != batch || entries < 1 || entries > INT32_MAX)
        return wrong_shape(reading, ROLE_PAGE_TABLE,
                           arena_format(reading->arena, "[%lld, entries], a row for each row of scores", (long long)batch));
    if (reading->n_rows * entries > GIVEN_MAX_BYTES / (int64_t)sizeof(int32_t))
        return wrong_shape(reading, ROLE_PAGE_TABLE, "of at most 256 MiB; take some of the rows with --rows FIRST-LAST");
    inputs->page_table_stride = entries;
    return read_integers(reading, ROLE_PAGE_TABLE, entries, &inputs->page_table);
}

/* What is no tensor: topk, outputs, base. */
static enum status read_rest(struct reading_capture *reading)
{
    struct capture *capture = reading->capture;
    int64_t         topk = number_or(reading, reading->settings->topk, "topk", 0);
    int64_t         shift = number_or(reading, 0, "base_shift", 0);
    const char     *outputs = json_string_value(json_object_get(capture->described, "outputs"));
    if (topk < 1 || topk > 4096)
        return error_set(reading->err, STATUS_USAGE,
                         topk ? "a topk of %lld: 1 to 4096 is accepted" : "how many are selected is not in the files: --topk K",
                         (long long)topk);
    if (shift < 0 || shift > 63)
        return error_set(reading->err, STATUS_USAGE, "case.json: a base_shift of %lld: 0 to 63 is accepted", (long long)shift);
    capture->inputs.topk = (int32_t)topk;
    capture->inputs.base_shift = (int32_t)shift;
    outputs = reading->settings->outputs ? reading->settings->outputs : outputs ? outputs : "page+raw";
    int found = 0;
    while (found < N_OUTPUTS && strcmp(outputs_text((enum outputs)found), outputs) != 0)
        found++;
    if (found == N_OUTPUTS)
        return error_set(reading->err, STATUS_USAGE, "--outputs %s: page, page+raw and raw are accepted", outputs);
    capture->outputs = (enum outputs)found;
    return STATUS_OK;
}

/* What of it the base contract leaves open. */
static void count_extensions(struct capture *capture)
{
    const struct case_inputs *inputs = &capture->inputs;
    for (int32_t row = 0; row < inputs->batch; row++) {
        const uint32_t *scores = inputs->scores + (int64_t)row * inputs->score_stride;
        int32_t         told = inputs->seq_lens[row], n = told > inputs->max_seq_len ? inputs->max_seq_len : told;
        int32_t         i = 0;
        while (i < n && (scores[i] & 0x7fffffff) <= 0x7f800000)
            i++;
        capture->n_nan_rows += i < n;
        capture->n_negative += told < 0;
        capture->n_overlong += told > inputs->max_seq_len;
    }
}

enum status capture_read(const struct settings *settings, struct arena *arena, struct capture *capture,
                         struct error *err)
{
    struct reading_capture reading = {.settings = settings, .arena = arena, .capture = capture, .err = err};
    memset(capture, 0, sizeof *capture);
    if (read_files(&reading) || find_roles(&reading) || read_scores(&reading) || read_lengths(&reading) ||
        read_page_table(&reading) || read_rest(&reading) ||
        (settings->rank_only && capture_rank_only(&capture->inputs, err)))
        return err->status;
    count_extensions(capture);
    return STATUS_OK;
}

void capture_clear(struct capture *capture)
{
    case_inputs_clear(&capture->inputs);
    json_decref(capture->described);
    memset(capture, 0, sizeof *capture);
}
