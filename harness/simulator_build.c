/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles for the simulator, into a cache; see simulator_build.h. Start reading at simulator_build(). */
#include "harness/simulator_build.h"

#include "harness/digest.h"
#include "harness/simulator_object.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_ARGUMENTS = 64, MESSAGE_BYTES = 1000 };

#define SIMULATOR_FOLDER "kernels/simulator"
/* What an object depends on beside the source and the headers. Raise it when the interface changes. */
#define BUILD_VERSION "watched 2"
#define BUILDING "building-"

/* One build, from start to end. */
struct build {
    const struct simulator_source *source;
    char                           cache[PATH_MAX - 96];
    const char                    *compiler; /* "clang++" or "g++" */
    char                           key[DIGEST_HEX];
    char                           folder[PATH_MAX - 32]; /* temporary, removed in the end */
    char                          *text;
};

static void set_text(struct build *build, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void set_text(struct build *build, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(build->text, SIMULATOR_BUILD_TEXT, format, arguments);
    va_end(arguments);
}

static bool is_program(const char *name)
{
    const char *path = getenv("PATH");
    char        file[PATH_MAX];
    while (path && *path) {
        size_t length = strcspn(path, ":");
        snprintf(file, sizeof file, "%.*s/%s", (int)length, path, name);
        if (access(file, X_OK) == 0)
            return true;
        path += length + (path[length] == ':');
    }
    return false;
}

static bool make_folders(const char *path)
{
    char part[PATH_MAX];
    for (const char *slash = strchr(path + 1, '/');; slash = strchr(slash + 1, '/')) {
        snprintf(part, sizeof part, "%.*s", slash ? (int)(slash - path) : (int)strlen(path), path);
        if (mkdir(part, 0700) != 0 && errno != EEXIST)
            return false;
        if (!slash)
            return access(path, W_OK) == 0;
    }
}

/* The first of the usual places that can be written. */
static bool choose_cache(struct build *build)
{
    const char *given = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    struct stat place;
    if (given && given[0] == '/') {
        snprintf(build->cache, sizeof build->cache, "%s/topkcts", given);
        if (make_folders(build->cache))
            return true;
    }
    if (home && home[0] == '/') {
        snprintf(build->cache, sizeof build->cache, "%s/.cache/topkcts", home);
        if (make_folders(build->cache))
            return true;
    }
    snprintf(build->cache, sizeof build->cache, "/tmp/topkcts-%ld", (long)getuid());
    if (!make_folders(build->cache))
        return false;
    /* What others may write must not be loaded. */
    return lstat(build->cache, &place) == 0 && S_ISDIR(place.st_mode) && place.st_uid == getuid() &&
           (place.st_mode & 022) == 0;
}

static bool add_file(struct digest *digest, const char *path)
{
    char         hex[DIGEST_HEX];
    struct error err = {0};
    if (digest_of_file(path, hex, &err))
        return false;
    digest_add(digest, hex, sizeof hex);
    return true;
}

static bool is_included(const char *name)
{
    static const char *const endings[] = {".h", ".hpp", ".cuh", ".hip", ".inc", ".S"};
    const char              *ending = strrchr(name, '.');
    for (size_t i = 0; ending && i < sizeof endings / sizeof *endings; i++)
        if (strcmp(ending, endings[i]) == 0)
            return true;
    return false;
}

/* Every header of a folder: they may be part of what is compiled. */
static bool add_headers(struct digest *digest, const char *folder)
{
    char            path[PATH_MAX];
    struct dirent **entries = NULL;
    bool            good = true;
    int             n = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (is_included(entries[i]->d_name))
            good &= add_file(digest, path);
        free(entries[i]);
    }
    free(entries);
    return n > 0 && good;
}

/* The key of the content in the cache. */
static bool make_key(struct build *build)
{
    static const char *const folders[] = {SIMULATOR_FOLDER, SIMULATOR_FOLDER "/include",
                                          SIMULATOR_FOLDER "/include/hip", "kernels"};
    struct digest digest;
    bool          good = true;
    char          compiler[PATH_MAX], folder[PATH_MAX];
    struct stat   binary;
    digest_begin(&digest);
    digest_add(&digest, BUILD_VERSION, sizeof BUILD_VERSION);
    digest_add(&digest, build->compiler, strlen(build->compiler));
    /* The compiler by what its file is, without running it. */
    snprintf(compiler, sizeof compiler, "/usr/bin/%s", build->compiler);
    if (stat(compiler, &binary) == 0) {
        digest_add(&digest, &binary.st_size, sizeof binary.st_size);
        digest_add(&digest, &binary.st_mtim, sizeof binary.st_mtim);
    }
    for (size_t i = 0; i < sizeof folders / sizeof folders[0] && good; i++) {
        snprintf(folder, sizeof folder, "%s/%s", build->source->project, folders[i]);
        good = add_headers(&digest, folder);
    }
    if (!good)
        set_text(build, "the simulator's headers cannot be read: %s/%s", build->source->project, SIMULATOR_FOLDER);
    for (size_t i = 0; i < build->source->n_files && good; i++) {
        good = add_file(&digest, build->source->files[i]);
        if (!good)
            set_text(build, "%s: cannot be read: %s", build->source->files[i], strerror(errno));
        digest_add(&digest, build->source->files[i], strlen(build->source->files[i]));
        const char *slash = strrchr(build->source->files[i], '/');
        snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - build->source->files[i]) : 1,
                 slash ? build->source->files[i] : ".");
        add_headers(&digest, folder[0] ? folder : "/");
    }
    digest_end(&digest, build->key);
    return good;
}

/* Runs a compiler; its output goes to `folder`/log, in English, what it keeps for a while to `folder`. The exit status; -1
 * when it could not be run. */
static int run_program(const char *const *argv, const char *folder, const char *log)
{
    pid_t pid = fork();
    int   status;
    if (pid == 0) {
        int fd = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (fd >= 0) {
            dup2(fd, STDOUT_FILENO);
            dup2(fd, STDERR_FILENO);
        }
        setenv("LC_ALL", "C", 1);
        setenv("TMPDIR", folder, 1);
        execvp(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return pid < 0 ? -1 : WIFEXITED(status) && WEXITSTATUS(status) != 127 ? WEXITSTATUS(status) : -1;
}

/* The lines of a compiler's output that say what is wrong, else its beginning. */
static void read_message(const char *log, char *message, size_t size)
{
    char   line[512];
    size_t used = 0;
    FILE  *file = fopen(log, "r");
    message[0] = '\0';
    for (int pass = 0; pass < 2 && used == 0 && file; pass++) {
        rewind(file);
        while (fgets(line, sizeof line, file) && used + 1 < size) {
            if (pass == 0 && !strstr(line, "error:"))
                continue;
            line[strcspn(line, "\n")] = '\0';
            used += (size_t)snprintf(message + used, size - used, "%s%s", used ? " | " : "", line);
        }
    }
    if (file)
        fclose(file);
}

/* Whether a compiler's output says that it was the machine's fault: no disk, no memory. */
static bool is_machine_to_blame(const char *log)
{
    static const int         errors[] = {ENOSPC, EDQUOT, EFBIG, EIO, EROFS, ENOMEM, EMFILE, ENFILE, EAGAIN};
    static const char *const words[] = {"out of memory", "memory exhausted", "fatal error: Killed signal",
                                        "unable to execute command: Killed"};
    char  line[512];
    bool  found = false;
    FILE *file = fopen(log, "r");
    while (file && !found && fgets(line, sizeof line, file)) {
        for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
            found |= strstr(line, strerror(errors[i])) != NULL;
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            found |= strstr(line, words[i]) != NULL;
    }
    if (file)
        fclose(file);
    return found;
}

/* Whether a compiler's output quotes a line that launches a kernel in the way that is no C++. */
static bool is_launch_quoted(const char *log)
{
    char  line[512];
    bool  found = false;
    FILE *file = fopen(log, "r");
    while (file && !found && fgets(line, sizeof line, file))
        found = strstr(line, "<<<") != NULL;
    if (file)
        fclose(file);
    return found;
}

/* A compiler that ended with `status`, not 0: who is to blame, and the message of `log` in build->text. */
static enum simulator_build_result blame(struct build *build, int status, const char *log, const char *what)
{
    char message[MESSAGE_BYTES];
    bool machine = status < 0 || is_machine_to_blame(log);
    read_message(log, message, sizeof message);
    set_text(build, "%s %s the source: %s%s", build->compiler, machine ? "cannot work, and did not build" : what,
             message[0] ? message : "it did not end by itself",
             is_launch_quoted(log) ? "; the simulator has no kernel<<<...>>>: launch by hipLaunchKernelGGL, hipLaunchKernel or "
                                     "cudaLaunchKernel" : "");
    return machine ? SIMULATOR_NO_COMPILER : SIMULATOR_REJECTED;
}

/* What both compilers take, and what each needs to leave accesses as they are written. -w: the source's style is not
 * ours to judge. */
static size_t compile_arguments(const struct build *build, const char **argv, const char *include,
                                const char *device_include, const char *harness)
{
    static const char *const common[] = {
        "-x", "c++", "-std=gnu++17", "-O2", "-g", "-w", "-fPIC", "-fdata-sections", "-fno-exceptions",
        "-fno-strict-aliasing", "-ffp-contract=off", "-fno-math-errno", "-DTOPKCTS_WATCHED=1", "-fsanitize=thread",
        "-include", "hip/hip_runtime.h",
    };
    static const char *const clang[] = {
        "-fsanitize=alignment,array-bounds", "-fsanitize-recover=alignment,array-bounds", "-fno-vectorize",
        "-fno-slp-vectorize", "-mllvm", "-tsan-instrument-func-entry-exit=0", "-mllvm",
        "-tsan-instrument-read-before-write=1", "-mllvm", "-tsan-distinguish-volatile=1",
    };
    static const char *const gnu[] = {
        "-fsanitize=alignment,bounds", "-fsanitize-recover=alignment,bounds", "-fno-tree-vectorize",
        "-fno-tree-loop-im", "-fno-move-loop-invariants", "-fno-tree-pre", "-fno-code-hoisting", "-fno-ssa-phiopt",
        "-fno-if-conversion", "-fno-if-conversion2", "-fno-gnu-unique", "-fno-extern-tls-init",
        "-fno-store-merging", "--param=tsan-instrument-func-entry-exit=0", "--param=tsan-distinguish-volatile=1",
    };
    bool               is_clang = strcmp(build->compiler, "clang++") == 0;
    const char *const *own = is_clang ? clang : gnu;
    size_t             n = 0, n_own = is_clang ? sizeof clang / sizeof *clang : sizeof gnu / sizeof *gnu;
    argv[n++] = build->compiler;
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        argv[n++] = common[i];
    for (size_t i = 0; i < n_own; i++)
        argv[n++] = own[i];
    argv[n++] = include;
    argv[n++] = device_include;
    argv[n++] = harness;
    return n;
}

static enum simulator_build_result compile_file(struct build *build, const char *file, const char *object)
{
    const char *argv[MAX_ARGUMENTS];
    char        include[PATH_MAX], device_include[PATH_MAX], harness[PATH_MAX], log[PATH_MAX];
    snprintf(include, sizeof include, "-I%s", build->source->project);
    snprintf(device_include, sizeof device_include, "-I%s/" SIMULATOR_FOLDER "/include", build->source->project);
    snprintf(log, sizeof log, "%s/log", build->folder);
    snprintf(harness, sizeof harness, "-I%s/harness", build->source->project);
    size_t n = compile_arguments(build, argv, include, device_include, harness);
    argv[n++] = "-c";
    argv[n++] = file;
    argv[n++] = "-o";
    argv[n++] = object;
    argv[n] = NULL;
    int status = run_program(argv, build->folder, log);
    return status == 0 ? SIMULATOR_BUILT : blame(build, status, log, "rejects");
}

/* A file that names the dynamic LDS as the source does, as assembly. */
static bool write_dynamic_lds(const char *path, const struct simulator_names *names)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return false;
    fprintf(file, "\t.section .tbss.zz_dynamic_lds,\"awT\",@nobits\n\t.balign 256\n");
    for (size_t i = 0; i < names->n; i++)
        fprintf(file, "\t.globl %s\n\t.hidden %s\n\t.type %s,@object\n%s:\n", names->names[i], names->names[i],
                names->names[i], names->names[i]);
    fprintf(file, "\t.globl simulator_dynamic_lds_begin\n\t.hidden simulator_dynamic_lds_begin\n"
                  "\t.type simulator_dynamic_lds_begin,@object\n\t.size simulator_dynamic_lds_begin,65536\n"
                  "simulator_dynamic_lds_begin:\n\t.zero 65536\n\t.section .note.GNU-stack,\"\",@progbits\n");
    return fclose(file) == 0;
}

static enum simulator_build_result link_objects(struct build *build, char (*objects)[PATH_MAX], const char *shared)
{
    struct simulator_names names = {0};
    const char            *argv[MAX_ARGUMENTS];
    char dynamic[PATH_MAX], entry[PATH_MAX], log[PATH_MAX], message[MESSAGE_BYTES];
    size_t n = 0;
    enum simulator_build_result result = SIMULATOR_NO_COMPILER;
    snprintf(log, sizeof log, "%s/log", build->folder);
    snprintf(dynamic, sizeof dynamic, "%s/dynamic_lds.s", build->folder);
    snprintf(entry, sizeof entry, "%s/" SIMULATOR_FOLDER "/module_entry.S", build->source->project);
    for (size_t i = 0; i < build->source->n_files; i++)
        if (!simulator_object_prepare(objects[i], &names, message, sizeof message)) {
            set_text(build, "%s", message);
            goto done;
        }
    if (names.guarded[0]) {
        set_text(build, "the source has a __shared__ object with a constructor, which LDS cannot run: %s (mangled)",
                 names.guarded);
        result = SIMULATOR_REJECTED;
        goto done;
    }
    if (!write_dynamic_lds(dynamic, &names)) {
        set_text(build, "%s: cannot be written: %s", dynamic, strerror(errno));
        goto done;
    }
    const char *const first[] = {build->compiler, "-shared", "-fPIC", "-Wl,-z,defs", "-Wl,--unresolved-symbols=ignore-all",
                                 "-Wl,-Bsymbolic", "-Wl,--build-id=none", "-o", shared};
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        argv[n++] = first[i];
    for (size_t i = 0; i < build->source->n_files; i++)
        argv[n++] = objects[i];
    argv[n++] = dynamic;
    argv[n++] = entry;
    argv[n++] = "-lm";
    argv[n] = NULL;
    int status = run_program(argv, build->folder, log);
    result = status == 0 ? SIMULATOR_BUILT : blame(build, status, log, "cannot link");
done:
    simulator_names_clear(&names);
    return result;
}

static void remove_folder(const char *folder)
{
    struct dirent **entries = NULL;
    char            path[PATH_MAX + 260];
    int             n = scandir(folder, &entries, NULL, NULL);
    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.')
            unlink(path);
        free(entries[i]);
    }
    free(entries);
    rmdir(folder);
}

/* What builds that were killed have left: no build takes so long. */
static void remove_old_folders(const char *cache)
{
    enum { OLD_SECONDS = 3600 };
    struct dirent **entries = NULL;
    char            path[PATH_MAX + 260];
    struct stat     place;
    int             n = scandir(cache, &entries, NULL, NULL);
    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/%s", cache, entries[i]->d_name);
        if (strncmp(entries[i]->d_name, BUILDING, sizeof BUILDING - 1) == 0 && lstat(path, &place) == 0 &&
            S_ISDIR(place.st_mode) && time(NULL) - place.st_mtime > OLD_SECONDS)
            remove_folder(path);
        free(entries[i]);
    }
    free(entries);
}

/* Compiles every file into the temporary folder and links them as `shared`. */
static enum simulator_build_result compile_and_link(struct build *build, const char *shared)
{
    char (*objects)[PATH_MAX] = calloc(build->source->n_files, sizeof *objects);
    enum simulator_build_result result = SIMULATOR_BUILT;
    if (!objects) {
        set_text(build, "%s", strerror(errno));
        return SIMULATOR_NO_COMPILER;
    }
    for (size_t i = 0; i < build->source->n_files && result == SIMULATOR_BUILT; i++) {
        snprintf(objects[i], sizeof objects[i], "%s/%zu.o", build->folder, i);
        result = compile_file(build, build->source->files[i], objects[i]);
    }
    if (result == SIMULATOR_BUILT)
        result = link_objects(build, objects, shared);
    free(objects);
    return result;
}

/* Whether the compiler builds a source that is right: one without its headers or its linker rejects every source. If it
 * does not, build->text says so. */
static bool is_compiler_working(struct build *build)
{
    static const char       right[] = "extern \"C\" __global__ void topk_kernel(int *a) { a[threadIdx.x] = 1; }\n";
    char                    path[PATH_MAX], shared[PATH_MAX], text[SIMULATOR_BUILD_TEXT] = "";
    const char             *files[] = {path};
    struct simulator_source source = {.files = files, .n_files = 1, .project = build->source->project};
    struct build            probe = *build;
    probe.source = &source;
    probe.text = text;
    snprintf(path, sizeof path, "%s/right.hip", build->folder);
    snprintf(shared, sizeof shared, "%s/right.so", build->folder);
    FILE *file = fopen(path, "w");
    bool  written = file && fputs(right, file) >= 0;
    if (file)
        written &= fclose(file) == 0;
    if (!written)
        snprintf(text, sizeof text, "%s: cannot be written: %s", path, strerror(errno));
    if (written && compile_and_link(&probe, shared) == SIMULATOR_BUILT)
        return true;
    set_text(build, "%s does not work here, not even for a kernel of one line: %s", build->compiler, text);
    return false;
}

/* Compiles everything into the temporary folder and moves the object to its place in the cache, digest first. */
static enum simulator_build_result build_object(struct build *build, const char *object, const char *sum)
{
    char                        shared[PATH_MAX], hex[DIGEST_HEX], written[PATH_MAX];
    struct error                err = {0};
    enum simulator_build_result result = SIMULATOR_NO_COMPILER;
    FILE                       *file = NULL;
    remove_old_folders(build->cache);
    snprintf(build->folder, sizeof build->folder, "%s/" BUILDING "XXXXXX", build->cache);
    if (!mkdtemp(build->folder)) {
        set_text(build, "%s: no folder to build in: %s", build->cache, strerror(errno));
        return SIMULATOR_NO_COMPILER;
    }
    snprintf(shared, sizeof shared, "%s/object.so", build->folder);
    snprintf(written, sizeof written, "%s/sum", build->folder);
    result = compile_and_link(build, shared);
    if (result == SIMULATOR_REJECTED && !is_compiler_working(build))
        result = SIMULATOR_NO_COMPILER;
    if (result != SIMULATOR_BUILT)
        goto done;
    result = SIMULATOR_NO_COMPILER;
    file = fopen(written, "w");
    if (digest_of_file(shared, hex, &err) || !file || fprintf(file, "%s\n", hex) < 0 || fclose(file) != 0 ||
        rename(written, sum) != 0 || rename(shared, object) != 0)
        set_text(build, "%s: the object cannot be kept: %s", build->cache, strerror(errno));
    else
        result = SIMULATOR_BUILT;
done:
    remove_folder(build->folder);
    return result;
}

/* Whether the cache holds an object that is what was put there. */
static bool is_whole(const char *object, const char *sum)
{
    char         hex[DIGEST_HEX], kept[DIGEST_HEX + 2] = "";
    struct error err = {0};
    FILE        *file = fopen(sum, "r");
    if (!file)
        return false;
    bool read = fgets(kept, sizeof kept, file) != NULL;
    fclose(file);
    kept[strcspn(kept, "\n")] = '\0';
    return read && !digest_of_file(object, hex, &err) && strcmp(hex, kept) == 0;
}

enum simulator_build_result simulator_build(const struct simulator_source *source, char object[PATH_MAX],
                                            char text[SIMULATOR_BUILD_TEXT])
{
    struct build build = {.source = source, .text = text};
    char         sum[PATH_MAX], lock[PATH_MAX];
    text[0] = '\0';
    build.compiler = is_program("clang++") ? "clang++" : is_program("g++") ? "g++" : NULL;
    if (!build.compiler) {
        set_text(&build, "no C++ compiler: neither clang++ nor g++ is on the path; install the package clang or g++");
        return SIMULATOR_NO_COMPILER;
    }
    if (!choose_cache(&build)) {
        set_text(&build, "no folder for compiled kernels: %s cannot be used; set XDG_CACHE_HOME", build.cache);
        return SIMULATOR_NO_COMPILER;
    }
    if (!make_key(&build))
        return SIMULATOR_NO_COMPILER;
    snprintf(object, PATH_MAX, "%s/%s.so", build.cache, build.key);
    snprintf(sum, sizeof sum, "%s/%s.sum", build.cache, build.key);
    snprintf(lock, sizeof lock, "%s/%s.lock", build.cache, build.key);
    if (is_whole(object, sum))
        return SIMULATOR_BUILT;
    /* Others that want the same wait here, and find it done. */
    int fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || flock(fd, LOCK_EX) != 0) {
        set_text(&build, "%s: cannot be locked: %s", lock, strerror(errno));
        if (fd >= 0)
            close(fd);
        return SIMULATOR_NO_COMPILER;
    }
    enum simulator_build_result result = SIMULATOR_BUILT;
    if (!is_whole(object, sum))
        result = build_object(&build, object, sum);
    unlink(lock);
    close(fd);
    return result;
}
