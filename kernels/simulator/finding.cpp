/* SPDX-License-Identifier: Apache-2.0 */
/* The words and sentences of findings; see finding.h. */
#include "kernels/simulator/finding.h"

#include "kernels/simulator/block.h"
#include "kernels/simulator/memory.h"
#include "kernels/simulator/module.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace simulator {

finding the_finding;

namespace {

constexpr size_t place_bytes = 160;

/* What lies at the address of the finding, by name. */
void describe_place(const module *where, const finding &f, char *text, size_t size)
{
    if (f.is_lds && where != nullptr) {
        if (f.address >= where->dynamic_lds)
            (void)std::snprintf(text, size, "dynamic LDS + %zu bytes", static_cast<size_t>(f.address - where->dynamic_lds));
        else if (!module_describe(where->shared, f.address, f.bytes, text, size))
            (void)std::snprintf(text, size, "LDS before the first array");
        return;
    }
    if (where != nullptr && f.address >= where->begin && f.address < where->end) {
        if (!module_describe(where->variables, f.address, f.bytes, text, size))
            (void)std::snprintf(text, size, "a variable of the module");
        return;
    }
    memory_describe(f.address, text, size);
}

void append(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

void append(char *text, size_t size, const char *format, ...)
{
    const size_t used = std::strlen(text);
    va_list      arguments;
    va_start(arguments, format);
    (void)std::vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}

void append_line(const module *where, uintptr_t pc, char *err, size_t err_size)
{
    char line[place_bytes];
    if (where != nullptr && module_source_line(*where, pc, line, sizeof line)) append(err, err_size, " at %s", line);
}

} // namespace

const char *finding_word(finding_kind kind)
{
    static const char *const words[] = {
#define SIMULATOR_FINDING_WORD(name, word) word,
        SIMULATOR_FINDING_LIST(SIMULATOR_FINDING_WORD)
#undef SIMULATOR_FINDING_WORD
    };
    return words[static_cast<int>(kind)];
}

finding &finding_begin(finding_kind kind)
{
    the_finding = {};
    the_finding.kind = kind;
    the_finding.access.block = simulator_block_index.x;
    the_finding.access.thread = the_block.current->number;
    return the_finding;
}

void finding_spell(const char *kernel, char *err, size_t err_size)
{
    const finding      &f = the_finding;
    const module *const where = the_block.where;
    char                place[2 * place_bytes] = "";
    (void)std::snprintf(err, err_size, "%s: kernel %s, block %u, thread %u", finding_word(f.kind), kernel,
                        f.access.block, f.access.thread);
    if (f.access.what != nullptr) {
        describe_place(where, f, place, sizeof place);
        append(err, err_size, " %s %s (%u bytes%s)", f.access.what, place, f.bytes, f.is_lds ? " of LDS" : "");
        append_line(where, f.access.pc, err, err_size);
    } else if (f.access.pc != 0)
        append_line(where, f.access.pc, err, err_size);
    if (f.before.what != nullptr) {
        append(err, err_size, "; before, ");
        if (f.other_block) append(err, err_size, "block %u ", f.before.block);
        append(err, err_size, "thread %u %s it", f.before.thread, f.before.what);
        append_line(where, f.before.pc, err, err_size);
    }
    if (f.text[0] != '\0') append(err, err_size, "%s%s", f.access.what != nullptr ? "; " : ": ", f.text);
}

} // namespace simulator
