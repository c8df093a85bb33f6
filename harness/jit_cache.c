/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cache of compiled code; see jit.h. An entry is a header (magic, size, digest of the bytes) and the bytes; it is
 * written under a name of its own and renamed, which is atomic on every file system that matters here.
 */
#include "harness/jit.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct entry_header {
    char          magic[8];
    unsigned long n_bytes;
    char          digest[DIGEST_HEX];
    char          padding[7];
};

static const char entry_magic[8] = {'t', 'o', 'p', 'k', 'j', 'i', 't', '1'};

enum { MAX_ENTRY_BYTES = 256 << 20 };

static void digest_of(const void *bytes, size_t n_bytes, char hex[DIGEST_HEX])
{
    struct digest digest;
    digest_begin(&digest);
    digest_add(&digest, bytes, n_bytes);
    digest_end(&digest, hex);
}

bool jit_cache_folder(char *folder, size_t size)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int         length = cache && cache[0] == '/'  ? snprintf(folder, size, "%s/topkcts", cache)
                         : home && home[0] == '/' ? snprintf(folder, size, "%s/.cache/topkcts", home)
                                                   : -1;
    return length > 0 && (size_t)length < size;
}

bool jit_cache_read(const char *folder, const char *key, void **bytes, size_t *n_bytes)
{
    char                path[PATH_MAX + 64], digest[DIGEST_HEX];
    struct entry_header header;
    bool                whole = false;
    *bytes = NULL;
    snprintf(path, sizeof path, "%s/%s.code", folder, key);
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    if (fread(&header, sizeof header, 1, file) == 1 && memcmp(header.magic, entry_magic, sizeof entry_magic) == 0 &&
        header.n_bytes > 0 && header.n_bytes < MAX_ENTRY_BYTES) {
        *n_bytes = header.n_bytes;
        *bytes = calloc(1, *n_bytes + 1);
        if (*bytes && fread(*bytes, 1, *n_bytes, file) == *n_bytes && fgetc(file) == EOF) {
            digest_of(*bytes, *n_bytes, digest);
            whole = memcmp(digest, header.digest, sizeof digest) == 0;
        }
    }
    fclose(file);
    if (!whole) {
        free(*bytes);
        *bytes = NULL;
    }
    return whole;
}

static bool make_folder(const char *folder)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", folder);
    for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            return false;
        *slash = '/';
    }
    return mkdir(path, 0777) == 0 || errno == EEXIST;
}

bool jit_cache_write(const char *folder, const char *key, const void *bytes, size_t n_bytes)
{
    char                path[PATH_MAX + 64], fresh[PATH_MAX + 96];
    struct entry_header header = {.n_bytes = n_bytes};
    if (!make_folder(folder))
        return false;
    memcpy(header.magic, entry_magic, sizeof entry_magic);
    digest_of(bytes, n_bytes, header.digest);
    snprintf(path, sizeof path, "%s/%s.code", folder, key);
    snprintf(fresh, sizeof fresh, "%s.XXXXXX", path);
    int   fd = mkstemp(fresh);
    FILE *file = fd >= 0 ? fdopen(fd, "wb") : NULL;
    if (!file) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    bool written = fwrite(&header, sizeof header, 1, file) == 1 && fwrite(bytes, 1, n_bytes, file) == n_bytes;
    written &= fclose(file) == 0;
    written = written && rename(fresh, path) == 0;
    if (!written)
        unlink(fresh);
    return written;
}
