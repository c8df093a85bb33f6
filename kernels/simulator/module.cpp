/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules: found by dl_iterate_phdr, read with libelf (symbols) and libdw (source lines). Start at module_of().
 */
#include "kernels/simulator/module.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <link.h>
#include <memory>
#include <sys/mman.h>
#include <unistd.h>

namespace simulator {

namespace {

std::vector<std::unique_ptr<module>> modules;

constexpr size_t page_bytes = 4096;

struct search {
    uintptr_t address;
    module   *found;
    size_t    tls_bytes;
};

bool holds(const dl_phdr_info &info, uintptr_t address)
{
    for (int i = 0; i < info.dlpi_phnum; i++) {
        const ElfW(Phdr) &segment = info.dlpi_phdr[i];
        const uintptr_t begin = info.dlpi_addr + segment.p_vaddr;
        if (segment.p_type == PT_LOAD && address >= begin && address < begin + segment.p_memsz) return true;
    }
    return false;
}

int visit(dl_phdr_info *info, size_t, void *payload)
{
    search &s = *static_cast<search *>(payload);
    if (!holds(*info, s.address)) return 0;
    s.found->path = info->dlpi_name;
    s.found->base = info->dlpi_addr;
    s.found->begin = UINTPTR_MAX;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) &segment = info->dlpi_phdr[i];
        if (segment.p_type == PT_TLS) s.tls_bytes = segment.p_memsz;
        if (segment.p_type != PT_LOAD) continue;
        s.found->begin = std::min(s.found->begin, static_cast<uintptr_t>(info->dlpi_addr + segment.p_vaddr));
        s.found->end = std::max(s.found->end, static_cast<uintptr_t>(info->dlpi_addr + segment.p_vaddr + segment.p_memsz));
    }
    return 1;
}

std::string demangled(const char *name)
{
    int         status = 0;
    char *const text = abi::__cxa_demangle(name, nullptr, nullptr, &status);
    std::string result = text != nullptr ? text : name;
    std::free(text);
    return result;
}

/* Sorts the objects of one symbol into LDS and variables. True for the mark of a module. */
bool take_symbol(module &m, const GElf_Sym &symbol, const char *name)
{
    const unsigned type = GELF_ST_TYPE(symbol.st_info);
    if (symbol.st_shndx == SHN_UNDEF) return false;
    if (type == STT_TLS && std::strcmp(name, "simulator_dynamic_lds_begin") == 0)
        m.dynamic_lds = reinterpret_cast<uintptr_t>(m.lds) + symbol.st_value;
    else if (type == STT_TLS && symbol.st_size > 0) {
        m.shared.push_back({demangled(name), reinterpret_cast<uintptr_t>(m.lds) + symbol.st_value, symbol.st_size});
        m.static_bytes += symbol.st_size;
    } else if (type == STT_OBJECT && symbol.st_size > 0)
        m.variables.push_back({demangled(name), m.base + symbol.st_value, symbol.st_size});
    return std::strcmp(name, "simulator_module_mark") == 0;
}

bool read_symbols(module &m)
{
    const int fd = open(m.path.c_str(), O_RDONLY | O_CLOEXEC);
    bool      marked = false;
    if (fd < 0) return false;
    (void)elf_version(EV_CURRENT);
    Elf *const elf = elf_begin(fd, ELF_C_READ_MMAP, nullptr);
    for (Elf_Scn *section = elf_nextscn(elf, nullptr); section != nullptr; section = elf_nextscn(elf, section)) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_SYMTAB) continue;
        Elf_Data *const data = elf_getdata(section, nullptr);
        for (size_t i = 0; data != nullptr && i < header.sh_size / header.sh_entsize; i++) {
            GElf_Sym symbol;
            if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) continue;
            const char *const name = elf_strptr(elf, header.sh_link, symbol.st_name);
            marked |= take_symbol(m, symbol, name == nullptr ? "" : name);
        }
    }
    (void)elf_end(elf);
    (void)close(fd);
    const auto by_address = [](const module_object &a, const module_object &b) { return a.begin < b.begin; };
    std::sort(m.shared.begin(), m.shared.end(), by_address);
    std::sort(m.variables.begin(), m.variables.end(), by_address);
    return marked;
}

const module *add_module(uintptr_t address)
{
    auto   made = std::make_unique<module>();
    search s = {address, made.get(), 0};
    if (dl_iterate_phdr(visit, &s) == 0 || made->path.empty()) return nullptr;
    made->lds_bytes = (s.tls_bytes + 2 * page_bytes - 1) / page_bytes * page_bytes;
    void *const arena = mmap(nullptr, made->lds_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (arena == MAP_FAILED) return nullptr;
    made->lds = static_cast<unsigned char *>(arena);
    if (!read_symbols(*made)) {
        (void)munmap(arena, made->lds_bytes);
        return nullptr;
    }
    modules.push_back(std::move(made));
    return modules.back().get();
}

/* Debug information, opened for one question: findings are rare. */
struct debug_file {
    int    fd;
    Dwarf *dwarf;
    explicit debug_file(const std::string &path)
        : fd(open(path.c_str(), O_RDONLY | O_CLOEXEC)), dwarf(fd < 0 ? nullptr : dwarf_begin(fd, DWARF_C_READ))
    {
    }
    ~debug_file()
    {
        if (dwarf != nullptr) (void)dwarf_end(dwarf);
        if (fd >= 0) (void)close(fd);
    }
    debug_file(const debug_file &) = delete;
    debug_file &operator=(const debug_file &) = delete;
};

bool is_own_header(const char *file) { return file == nullptr || std::strstr(file, "kernels/simulator/") != nullptr; }

Dwarf_Die *unit_of(Dwarf *dwarf, Dwarf_Addr pc, Dwarf_Die *unit)
{
    Dwarf_Off offset = 0;
    Dwarf_Off next = 0;
    size_t    header = 0;
    while (dwarf_nextcu(dwarf, offset, &next, &header, nullptr, nullptr, nullptr) == 0) {
        if (dwarf_offdie(dwarf, offset + header, unit) != nullptr && dwarf_haspc(unit, pc) > 0) return unit;
        offset = next;
    }
    return nullptr;
}

/* The line of the address, or the last one before it that has a number: compilers give 0 to what they have moved. */
void nearest_line(Dwarf_Die *unit, Dwarf_Addr at, const char **name, int *line)
{
    Dwarf_Lines *lines = nullptr;
    size_t       n = 0;
    if (dwarf_getsrclines(unit, &lines, &n) != 0) return;
    for (size_t i = 0; i < n; i++) {
        Dwarf_Line *const entry = dwarf_onesrcline(lines, i);
        Dwarf_Addr        begins = 0;
        int               number = 0;
        bool              ends = false;
        (void)dwarf_lineaddr(entry, &begins);
        (void)dwarf_lineno(entry, &number);
        (void)dwarf_lineendsequence(entry, &ends);
        if (begins > at) {
            if (*line != 0) return;
            continue;
        }
        if (ends) *line = 0;
        else if (number != 0) {
            *line = number;
            *name = dwarf_linesrc(entry, nullptr, nullptr);
        }
    }
}

/* The line of the call that was inlined as `scope`. */
bool call_place(Dwarf_Die *unit, Dwarf_Die *scope, const char **file, int *line)
{
    Dwarf_Attribute attribute;
    Dwarf_Word      number = 0;
    Dwarf_Files    *files = nullptr;
    size_t          n_files = 0;
    if (dwarf_getsrcfiles(unit, &files, &n_files) != 0) return false;
    if (dwarf_formudata(dwarf_attr(scope, DW_AT_call_file, &attribute), &number) != 0) return false;
    *file = dwarf_filesrc(files, number, nullptr, nullptr);
    if (dwarf_formudata(dwarf_attr(scope, DW_AT_call_line, &attribute), &number) != 0) return false;
    *line = static_cast<int>(number);
    return *file != nullptr;
}

} // namespace

const module *module_of(const void *address)
{
    const uintptr_t at = reinterpret_cast<uintptr_t>(address);
    for (const auto &m : modules)
        if (at >= m->begin && at < m->end) return m.get();
    return add_module(at);
}

bool module_source_line(const module &where, uintptr_t pc, char *text, size_t size)
{
    const debug_file file(where.path);
    const Dwarf_Addr at = pc - 1 - where.base; /* within the call */
    Dwarf_Die        unit;
    if (file.dwarf == nullptr || pc == 0 || unit_of(file.dwarf, at, &unit) == nullptr) return false;
    const char *name = nullptr;
    int         line = 0;
    nearest_line(&unit, at, &name, &line);
    /* The innermost scope, then what physically encloses it: calls that were inlined. */
    Dwarf_Die *lexical = nullptr;
    Dwarf_Die *scopes = nullptr;
    const int  n_scopes = dwarf_getscopes(&unit, at, &lexical) > 0 ? dwarf_getscopes_die(lexical, &scopes) : 0;
    std::free(lexical);
    for (int i = 0; i < n_scopes && is_own_header(name); i++)
        if (dwarf_tag(&scopes[i]) == DW_TAG_inlined_subroutine) (void)call_place(&unit, &scopes[i], &name, &line);
    std::free(scopes);
    if (name == nullptr) return false;
    const char *const slash = std::strrchr(name, '/');
    (void)std::snprintf(text, size, "%s:%d", slash == nullptr ? name : slash + 1, line);
    return true;
}

bool module_describe(const std::vector<module_object> &objects, uintptr_t address, unsigned bytes, char *text,
                     size_t size)
{
    const module_object *nearest = nullptr;
    for (const module_object &object : objects)
        if (object.begin <= address) nearest = &object;
    if (nearest == nullptr) return false;
    const size_t offset = address - nearest->begin;
    if (offset >= nearest->bytes)
        (void)std::snprintf(text, size, "%zu bytes past the end of %s (%zu bytes)", offset - nearest->bytes,
                            nearest->name.c_str(), nearest->bytes);
    else if (offset == 0 && nearest->bytes <= bytes)
        (void)std::snprintf(text, size, "%s", nearest->name.c_str());
    else if (bytes > 0 && offset % bytes == 0)
        (void)std::snprintf(text, size, "%s[%zu]", nearest->name.c_str(), offset / bytes);
    else
        (void)std::snprintf(text, size, "%s + %zu bytes", nearest->name.c_str(), offset);
    return true;
}

} // namespace simulator
