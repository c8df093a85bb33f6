/* SPDX-License-Identifier: Apache-2.0 */
/* Gaps between LDS arrays, names of dynamic LDS; see simulator_object.h. */
#include "harness/simulator_object.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GAP_BYTES = 256 };

static bool add_name(struct simulator_names *dynamic, const char *name)
{
    for (size_t i = 0; i < dynamic->n; i++)
        if (strcmp(dynamic->names[i], name) == 0)
            return true;
    char **larger = realloc(dynamic->names, (dynamic->n + 1) * sizeof *larger);
    if (!larger)
        return false;
    dynamic->names = larger;
    larger[dynamic->n] = strdup(name);
    return larger[dynamic->n] && ++dynamic->n;
}

/* Compilers guard a constructor of thread-local storage by an object of this name. */
static void note_guard(const char *name, struct simulator_names *names)
{
    static const char guard[] = "_ZGV";
    if (name && strncmp(name, guard, sizeof guard - 1) == 0)
        snprintf(names->guarded, sizeof names->guarded, "%s", name + sizeof guard - 1);
    else if (name && strcmp(name, "__tls_guard") == 0)
        snprintf(names->guarded, sizeof names->guarded, "one outside of functions");
}

static bool take_names(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, struct simulator_names *dynamic)
{
    Elf_Data *data = elf_getdata(section, NULL);
    bool      good = data != NULL;
    for (size_t i = 0; good && i < header->sh_size / header->sh_entsize; i++) {
        GElf_Sym    symbol;
        const char *name;
        if (!gelf_getsym(data, (int)i, &symbol) || GELF_ST_TYPE(symbol.st_info) != STT_TLS)
            continue;
        name = elf_strptr(elf, header->sh_link, symbol.st_name);
        if (symbol.st_shndx == SHN_UNDEF)
            good = name && add_name(dynamic, name);
        else
            note_guard(name, dynamic);
    }
    return good;
}

/* The sections' contents stay where they are: thread-local zeroes have none. */
static bool widen(Elf_Scn *section, GElf_Shdr *header)
{
    header->sh_size += GAP_BYTES;
    Elf_Data *data = elf_getdata(section, NULL);
    if (data)
        data->d_size = header->sh_size;
    return gelf_update_shdr(section, header) != 0;
}

bool simulator_object_prepare(const char *path, struct simulator_names *dynamic, char *text, size_t size)
{
    int  fd = open(path, O_RDWR | O_CLOEXEC);
    Elf *elf = NULL;
    bool good = false;
    if (fd < 0) {
        snprintf(text, size, "%s: cannot be read: %s", path, strerror(errno));
        return false;
    }
    elf_version(EV_CURRENT);
    elf = elf_begin(fd, ELF_C_RDWR, NULL);
    if (!elf)
        goto done;
    elf_flagelf(elf, ELF_C_SET, ELF_F_LAYOUT);
    good = true;
    for (Elf_Scn *section = elf_nextscn(elf, NULL); section && good; section = elf_nextscn(elf, section)) {
        GElf_Shdr header;
        good = gelf_getshdr(section, &header) != NULL;
        if (good && header.sh_type == SHT_SYMTAB)
            good = take_names(elf, section, &header, dynamic);
        else if (good && header.sh_type == SHT_NOBITS && (header.sh_flags & SHF_TLS) && header.sh_size > 0)
            good = widen(section, &header);
    }
    good = good && elf_update(elf, ELF_C_WRITE) >= 0;
done:
    if (!good)
        snprintf(text, size, "%s: cannot be prepared: %s", path, elf_errmsg(-1));
    if (elf)
        elf_end(elf);
    close(fd);
    return good;
}

static bool has_mark(Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    for (size_t i = 0; data && i < header->sh_size / header->sh_entsize; i++) {
        GElf_Sym    symbol;
        const char *name = gelf_getsym(data, (int)i, &symbol) ? elf_strptr(elf, header->sh_link, symbol.st_name) : NULL;
        if (name && symbol.st_shndx != SHN_UNDEF && strcmp(name, "simulator_module_mark") == 0)
            return true;
    }
    return false;
}

bool simulator_object_is_watched(const char *path)
{
    int  fd = open(path, O_RDONLY | O_CLOEXEC);
    bool marked = false;
    if (fd < 0)
        return false;
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    for (Elf_Scn *section = elf ? elf_nextscn(elf, NULL) : NULL; section && !marked;
         section = elf_nextscn(elf, section)) {
        GElf_Shdr header;
        marked = gelf_getshdr(section, &header) && header.sh_type == SHT_DYNSYM && has_mark(elf, section, &header);
    }
    elf_end(elf);
    close(fd);
    return marked;
}

void simulator_names_clear(struct simulator_names *names)
{
    for (size_t i = 0; i < names->n; i++)
        free(names->names[i]);
    free(names->names);
    *names = (struct simulator_names){0};
}
