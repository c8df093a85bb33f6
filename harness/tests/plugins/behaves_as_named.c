/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A correct plugin with the manners that its file is named after: copied to close-hangs.so, it hangs in close. One
 * source for many copies, so that the test script reads as the list of what may go wrong in each slot.
 */
#include "host_select.h"

#include <dlfcn.h>
#include <fenv.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char                 manner[64]; /* the file's name without its folder and ".so" */
static struct topk_provider provider;

static bool is(const char *name)
{
    return strcmp(manner, name) == 0;
}

/* As many characters as fit, and no terminator. */
static void fill_without_end(char *text, size_t size)
{
    memset(text, 'x', size);
}

static int open_in_manner(int device, void **self, char *err, size_t err_size)
{
    if (is("open-fails-without-end")) {
        fill_without_end(err, err_size);
        return 7;
    }
    if (is("open-changes-folder") && chdir("/") != 0)
        return 1;
    return plugin_open(device, self, err, err_size);
}

static int supports_in_manner(void *self, const struct topk_problem *problem, char *why, size_t why_size)
{
    (void)self;
    (void)problem;
    if (!is("supports-without-end"))
        return 1;
    fill_without_end(why, why_size);
    return 0;
}

static size_t workspace_in_manner(void *self, const struct topk_problem *problem)
{
    (void)self;
    (void)problem;
    return is("workspace-minus-one") ? (size_t)-1 : is("workspace-exbibyte") ? (size_t)1 << 60 : 0;
}

/* Goes on writing into outputs that are not its own any more. */
static void *write_late(void *outputs)
{
    usleep(20000);
    memset(outputs, 0, sizeof(int32_t));
    return NULL;
}

static void leave_a_thread(const struct topk_problem *problem)
{
    pthread_t thread;
    int32_t  *outputs = problem->page_indices != NULL ? problem->page_indices : problem->raw_indices;
    if (pthread_create(&thread, NULL, write_late, outputs) == 0)
        pthread_detach(thread);
}

/* Flushes denormals to zero, in operands and results, and rounds up. */
static void change_arithmetic(void)
{
#ifdef __x86_64__
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040u);
#endif
    fesetround(FE_UPWARD);
}

static void change_limits(void)
{
    struct rlimit nothing = {0, 0};
    setrlimit(RLIMIT_FSIZE, &nothing);
    setrlimit(RLIMIT_NOFILE, &nothing);
    umask(0777);
}

static void block_signals(void)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    signal(SIGCHLD, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
}

static void use_stack(void)
{
    volatile char deep[6 << 20];
    for (size_t i = 0; i < sizeof deep; i += 4096)
        deep[i] = 1;
}

/* To every descriptor that could be the harness's. */
static void chatter(void)
{
    static const char words[] = "{\"say\": \"resul";
    for (int fd = 3; fd < 64; fd++) {
        ssize_t unused = write(fd, words, sizeof words - 1);
        (void)unused;
    }
}

static int launch_in_manner(void *self, const struct topk_problem *problem, char *err, size_t err_size)
{
    (void)self;
    if (is("launch-fails-without-end")) {
        fill_without_end(err, err_size);
        return -1;
    }
    if (is("claims-change")) {
        provider.claims = (struct topk_claims){.level = TOPK_LEVEL_SAFE, .tie = TOPK_TIE_ANY};
        for (int32_t row = 0; row < problem->batch; row++)
            for (int32_t slot = 0; slot < problem->topk; slot++)
                plugin_write(problem, row, slot, -1);
        return 0;
    }
    if (is("arithmetic-changes"))
        change_arithmetic();
    if (is("limits-change"))
        change_limits();
    if (is("signals-blocked"))
        block_signals();
    if (is("locale-changes"))
        setlocale(LC_ALL, "de_DE.UTF-8");
    if (is("stack-is-deep"))
        use_stack();
    if (is("stops-itself"))
        raise(SIGSTOP);
    if (is("kills-itself"))
        raise(SIGKILL);
    if (is("kills-its-parent"))
        kill(getppid(), SIGKILL);
    if (is("child-exits") && fork() == 0)
        exit(0);
    plugin_select(problem);
    if (is("child-returns"))
        fork();
    if (is("thread-writes-late"))
        leave_a_thread(problem);
    if (is("chatters"))
        chatter();
    return 0;
}

/* 64 readable bytes with no terminator, then nothing. */
static const char *text_without_end(void)
{
    static char *page;
    size_t       bytes = (size_t)sysconf(_SC_PAGESIZE);
    if (page == NULL) {
        page = mmap(NULL, 2 * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        munmap(page + bytes, bytes);
        fill_without_end(page, bytes);
    }
    return page + bytes - 64;
}

static const char *path_in_manner(void *self)
{
    (void)self;
    return is("path-without-end") ? text_without_end() : is("path-latin1") ? "gr\xf6\xdf" "er" : is("path-lines") ? "a\nb" : NULL;
}

static void close_in_manner(void *self)
{
    (void)self;
    if (is("close-crashes"))
        abort();
    if (is("close-hangs"))
        for (;;)
            pause();
    if (is("close-exits"))
        exit(0);
}

__attribute__((destructor)) static void unload_in_manner(void)
{
    if (is("unload-exits"))
        _exit(5);
}

static const struct topk_limit limits_negative[] = {{"candidates", -5}, {"candidates", 0}, {NULL, 0}};
static const struct topk_limit limits_huge[] = {{"candidates", INT64_MAX}, {"candidates", INT64_MAX / 2}, {"candidates", 1 << 30}, {NULL, 0}};
static const struct topk_limit limits_twice[] = {{"candidates", 2000}, {"candidates", 2000}, {"candidates", 1000}, {NULL, 0}};
static const struct topk_limit limits_odd[] = {{"candidates\n", 2000}, {"gr\xf6\xdf" "e", 2000}, {"", 1}, {NULL, 0}};

static const struct {
    const char *manner, *name, *version;
} names[] = {
    {"name-lines", "two\nlines", "1"},
    {"name-escape", "\033[31mred", "1"},
    {"name-latin1", "gr\xf6\xdf" "er", "1"},
    {"name-utf8", "größer", "1"},
    {"name-quotes", "it's \"so\"; drop table run;--", "1"},
    {"name-v1", "v1", "1"},
    {"name-space", "  ", "1"},
    {"name-long", "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
                  "0123456789012345678901234567890123456789", "1"},
    {"version-null", "version-null", NULL},
    {"version-lines", "version-lines", "1\n2"},
    {"version-latin1", "version-latin1", "\xf6"},
    {"version-long", "version-long", "0123456789012345678901234567890123456789012345678901234567890123456789ä"},
};

static void learn_manner(void)
{
    Dl_info info;
    if (dladdr((void *)(uintptr_t)&provider, &info) == 0)
        return;
    const char *slash = strrchr(info.dli_fname, '/');
    snprintf(manner, sizeof manner, "%s", slash != NULL ? slash + 1 : info.dli_fname);
    manner[strcspn(manner, ".")] = '\0';
}

const struct topk_provider *topk_provider_entry(void)
{
    learn_manner();
    provider = (struct topk_provider){
        .abi = TOPK_PROVIDER_ABI,
        .name = manner,
        .version = "1",
        .memory = TOPK_MEMORY_HOST,
        .claims = {.level = TOPK_LEVEL_CANONICAL, .nan = TOPK_NAN_BITS},
        .open = open_in_manner,
        .supports = supports_in_manner,
        .workspace_bytes = workspace_in_manner,
        .launch = launch_in_manner,
        .path = path_in_manner,
        .close = close_in_manner,
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (is(names[i].manner)) {
            provider.name = names[i].name;
            provider.version = names[i].version;
        }
    if (is("limits-negative"))
        provider.limits = limits_negative;
    if (is("limits-huge"))
        provider.limits = limits_huge;
    if (is("limits-twice"))
        provider.limits = limits_twice;
    if (is("limits-odd"))
        provider.limits = limits_odd;
    if (is("claims-out-of-range"))
        provider.claims.nan = (enum topk_nan)9;
    if (is("claims-max-topk-negative"))
        provider.claims.max_topk = -1;
    if (is("memory-out-of-range"))
        provider.memory = (enum topk_memory)3;
    return &provider;
}
