/* SPDX-License-Identifier: MIT */
/* Asks libdw for lines: one session a module, which is kept; answers are kept, too. */
#include "symbols/lines.h"

#include <stddef.h>

#ifdef DFT_HAVE_LIBDW
#include <elfutils/libdwfl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/modules.h"

#define SLOTS 4096u

struct module {
    struct dft_module known;
    Dwfl_Module *debug; /* NULL: nothing can be had */
};

struct answer {
    struct answer *next;
    const struct module *module;
    uint64_t address;
    char *text; /* NULL: not known */
};

static struct dft_module *modules;
static struct answer *answers[SLOTS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int has_build_id(Dwfl_Module *debug, uint64_t wanted)
{
    const unsigned char *bits;
    GElf_Addr address;
    uint64_t id = 0;
    int n = dwfl_module_build_id(debug, &bits, &address);

    for (int i = 0; i < 8 && i < n; i++)
        id = id << 8 | bits[i];
    return !wanted || id == wanted;
}

static Dwfl_Module *open_module(const char *path, uint64_t build_id)
{
    static char *debug_path; /* the usual places */
    static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_build_id_find_elf,
                                             .find_debuginfo = dwfl_standard_find_debuginfo,
                                             .section_address = dwfl_offline_section_address,
                                             .debuginfo_path = &debug_path};
    Dwfl *session = dwfl_begin(&callbacks);
    Dwfl_Module *debug = session ? dwfl_report_offline(session, path, path, -1) : NULL;

    if (session)
        dwfl_report_end(session, NULL, NULL);
    if (debug && has_build_id(debug, build_id))
        return debug;
    dwfl_end(session);
    return NULL;
}

static const struct module *find_module(const char *path, uint64_t build_id)
{
    int added;
    struct module *module = dft_module_get(&modules, path, build_id, sizeof *module, &added);

    if (added)
        module->debug = open_module(path, build_id);
    return module;
}

static char *ask(const struct module *module, uint64_t address)
{
    Dwarf_Addr bias;
    Dwfl_Line *line;
    const char *file;
    char *text;
    int number;

    if (!module->debug || !dwfl_module_getelf(module->debug, &bias))
        return NULL;
    line = dwfl_module_getsrc(module->debug, address + bias);
    file = line ? dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL) : NULL;
    return file && asprintf(&text, "%s:%d", file, number) >= 0 ? text : NULL;
}

const char *dft_lines_find(const char *path, uint64_t build_id, uint64_t address)
{
    struct answer **at = &answers[(address ^ address >> 12) % SLOTS], *answer = NULL;
    const struct module *module;
    const char *text = NULL;

    pthread_mutex_lock(&lock);
    module = find_module(path, build_id);
    for (answer = module ? *at : NULL; answer && (answer->module != module || answer->address != address);)
        answer = answer->next;
    if (module && !answer && (answer = malloc(sizeof *answer))) {
        *answer = (struct answer){*at, module, address, ask(module, address)};
        *at = answer;
    }
    if (answer)
        text = answer->text;
    pthread_mutex_unlock(&lock);
    return text;
}
#else
const char *dft_lines_find(const char *path, uint64_t build_id, uint64_t address)
{
    (void)path;
    (void)build_id;
    (void)address;
    return NULL;
}
#endif
