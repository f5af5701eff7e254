/* SPDX-License-Identifier: MIT */
/* Asks libdw (elfutils) for functions and lines: one session a module, which is kept. The functions
 * of a module are listed once, sorted, and looked up by bisection; answers about lines are kept. */
#include "symbols/symbols.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* libstdc++ knows best, and is on most machines; without it names stay as they are. */
static char *demangle(const char *name)
{
    static char *(*function)(const char *name, char *out, size_t *length, int *status);
    static int tried;
    int status = -1;
    char *shown;

    if (!tried++) {
        void *library = dlopen("libstdc++.so.6", RTLD_LAZY);

        if (library)
            *(void **)&function = dlsym(library, "__cxa_demangle");
    }
    if (name[0] != '_' || name[1] != 'Z' || !function)
        return NULL;
    shown = function(name, NULL, NULL, &status);
    return status ? NULL : shown;
}

/* --- libdw ------------------------------------------------------------------------------------ */

#ifdef DFT_HAVE_LIBDW
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/open_regular.h"
#include "symbols/debug_file.h"
#include "symbols/own.h"
#include "symbols/scopes.h"

#define SLOTS 4096u

struct function {
    uint64_t start, size;
    const char *name; /* libdw's */
    char *shown;      /* demangled at the first request */
};

struct module {
    struct module *next;
    char *path;
    uint64_t build_id;
    Dwfl_Module *debug;         /* NULL: nothing can be had */
    uint64_t bias;              /* what libdw adds to the file's addresses */
    struct function *functions; /* by start; listed with the first query */
    size_t count;
    int is_listed;
};

struct answer {
    struct answer *next;
    const struct module *module;
    uint64_t address;
    unsigned count;
    struct dft_symbols_frame *frames;
};

static struct module *modules;
static struct answer *answers[SLOTS];

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

/* Opens the module: a file of ELF, at the path that a trace tells. Returns -1: there is none. */
static int open_elf(const char *path)
{
    int fd = dft_open_regular(path, O_RDONLY, NULL);

    if (fd < 0 || dft_debug_is_elf(fd))
        return fd;
    close(fd);
    return -1;
}

static void open_module(struct module *module)
{
    static Dwfl_Callbacks callbacks = {.find_elf = dwfl_build_id_find_elf,
                                       .find_debuginfo = dft_debug_find,
                                       .section_address = dwfl_offline_section_address};
    int fd = open_elf(module->path);
    Dwfl *session = fd < 0 ? NULL : dwfl_begin(&callbacks);
    Dwarf_Addr bias;

    callbacks.debuginfo_path = dft_debug_nowhere();
    module->debug = session ? dwfl_report_offline(session, module->path, module->path, fd) : NULL;
    if (fd >= 0 && !module->debug)
        close(fd);
    if (session)
        dwfl_report_end(session, NULL, NULL);
    if (module->debug && has_build_id(module->debug, module->build_id) && dwfl_module_getelf(module->debug, &bias)) {
        module->bias = bias;
        return;
    }
    dwfl_end(session);
    module->debug = NULL;
}

static struct module *find_module(const char *path, uint64_t build_id)
{
    struct module *module = modules;

    while (module && (module->build_id != build_id || strcmp(module->path, path) != 0))
        module = module->next;
    if (module)
        return module;
    module = calloc(1, sizeof *module);
    if (!module || !(module->path = strdup(path))) {
        free(module);
        return NULL;
    }
    module->build_id = build_id;
    module->next = modules;
    modules = module;
    open_module(module);
    return module;
}

/* Where several names have one address, the first in the alphabet counts, whichever table it came from. */
static int by_start(const void *left, const void *right)
{
    const struct function *a = left, *b = right;

    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return strcmp(a->name, b->name);
}

static void list_functions(struct module *module)
{
    int n = module->debug ? dwfl_module_getsymtab(module->debug) : 0;

    module->is_listed = 1;
    if (n <= 0 || !(module->functions = calloc((size_t)n, sizeof *module->functions)))
        return;
    for (int i = 0; i < n; i++) {
        GElf_Sym symbol;
        GElf_Addr address;
        const char *name = dwfl_module_getsym_info(module->debug, i, &symbol, &address, NULL, NULL, NULL);

        if (name && GELF_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF)
            module->functions[module->count++] =
                (struct function){.start = address - module->bias, .size = symbol.st_size, .name = name};
    }
    qsort(module->functions, module->count, sizeof *module->functions, by_start);
}

static struct function *find_function(const struct module *module, uint64_t address)
{
    size_t low = 0, high = module->count;

    while (low < high) { /* the first behind it */
        size_t middle = low + (high - low) / 2;

        if (module->functions[middle].start > address)
            high = middle;
        else
            low = middle + 1;
    }
    if (!low)
        return NULL;
    for (low--; low > 0 && module->functions[low - 1].start == module->functions[low].start; low--)
        ;
    if (module->functions[low].size && address - module->functions[low].start >= module->functions[low].size)
        return NULL;
    return &module->functions[low];
}

/* NULL: not known. */
static struct function *function_at(struct module *module, uint64_t address)
{
    struct function *function;

    if (!module->is_listed)
        list_functions(module);
    function = find_function(module, address);
    if (function && !function->shown)
        function->shown = demangle(function->name);
    return function;
}

const char *dft_symbols_find(const char *path, uint64_t build_id, uint64_t address, uint64_t *offset)
{
    struct function *function = NULL;
    const char *name = NULL;
    struct module *module;

    pthread_mutex_lock(&lock);
    module = find_module(path, build_id);
    if (module)
        function = function_at(module, address);
    if (function && offset)
        *offset = address - function->start;
    if (function)
        name = function->shown ? function->shown : function->name;
    pthread_mutex_unlock(&lock);
    return name;
}

/* --- frames ----------------------------------------------------------------------------------- */

/* Without a line a program is its own, and a library is not. */
static void set_frame(struct dft_symbols_frame *frame, const struct module *module, const struct dft_scope *scope)
{
    char *text;

    if (scope->file && asprintf(&text, "%s:%d", scope->file, scope->line) >= 0)
        frame->line = text;
    frame->own = dft_own_module(module->path) &&
                 (scope->file ? dft_own_source(scope->file)
                              : !dft_own_is_library(module->path) && (!scope->name || dft_own_function(scope->name)));
    if (!frame->function && scope->name)
        frame->function = demangle(scope->name);
    if (!frame->function)
        frame->function = scope->name;
}

static void ask_frames(struct module *module, struct answer *answer)
{
    struct dft_scope scopes[DFT_SCOPES_MAX] = {{0}};
    unsigned n = module->debug ? dft_scopes_at(module->debug, answer->address + module->bias, scopes) : 0;
    struct function *function = module->debug ? function_at(module, answer->address) : NULL;

    n += !n;
    answer->frames = calloc(n, sizeof *answer->frames);
    if (!answer->frames)
        return;
    if (function) {
        scopes[n - 1].name = function->name;
        answer->frames[n - 1].function = function->shown;
    }
    for (answer->count = 0; answer->count < n; answer->count++)
        set_frame(&answer->frames[answer->count], module, &scopes[answer->count]);
}

unsigned dft_symbols_frames(const char *path, uint64_t build_id, uint64_t address,
                            const struct dft_symbols_frame **frames)
{
    struct answer **at = &answers[(address ^ address >> 12) % SLOTS], *answer = NULL;
    struct module *module;
    unsigned count = 0;

    pthread_mutex_lock(&lock);
    module = find_module(path, build_id);
    for (answer = module ? *at : NULL; answer && (answer->module != module || answer->address != address);)
        answer = answer->next;
    if (module && !answer && (answer = malloc(sizeof *answer))) {
        *answer = (struct answer){*at, module, address, 0, NULL};
        ask_frames(module, answer);
        *at = answer;
    }
    if (answer) {
        *frames = answer->frames;
        count = answer->count;
    }
    pthread_mutex_unlock(&lock);
    return count;
}
#else
const char *dft_symbols_find(const char *path, uint64_t build_id, uint64_t address, uint64_t *offset)
{
    static int reported;

    (void)path;
    (void)build_id;
    (void)address;
    (void)offset;
    if (!__atomic_exchange_n(&reported, 1, __ATOMIC_RELAXED))
        fputs(
            "dftmerge: built without libdw: functions are shown as module+0xaddress. Install libdw-dev, and build dftmerge "
            "anew\n",
            stderr);
    return NULL;
}

unsigned dft_symbols_frames(const char *path, uint64_t build_id, uint64_t address,
                            const struct dft_symbols_frame **frames)
{
    (void)path;
    (void)build_id;
    (void)address;
    (void)frames;
    return 0;
}
#endif

const char *dft_symbols_line(const char *path, uint64_t build_id, uint64_t address)
{
    const struct dft_symbols_frame *frames;
    unsigned count = dft_symbols_frames(path, build_id, address, &frames);

    for (unsigned i = 0; i < count; i++)
        if (frames[i].own && frames[i].line)
            return frames[i].line;
    return count ? frames[0].line : NULL;
}

/* --- texts ------------------------------------------------------------------------------------ */

int dft_symbols_place(const char *text, size_t length, char path[1024], uint64_t *build_id, uint64_t *address)
{
    char *id, *end;

    if (length < 24 || length >= 1024 || text[0] != '/')
        return 0;
    memcpy(path, text, length);
    path[length] = 0;
    id = strrchr(path, '[');
    if (!id || strlen(id) < 21 || memcmp(id + 17, "]+0x", 4) != 0)
        return 0;
    *build_id = strtoull(id + 1, &end, 16);
    if (end != id + 17)
        return 0;
    *address = strtoull(id + 21, &end, 16);
    if (*end)
        return 0;
    *id = 0;
    return 1;
}

static const char *show_mangled(const char *text, size_t length, char *buffer, size_t size)
{
    char name[512], *shown;

    if (length >= sizeof name)
        return NULL;
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    pthread_mutex_lock(&lock);
    shown = demangle(name);
    pthread_mutex_unlock(&lock);
    snprintf(buffer, size, "%s", shown ? shown : name);
    free(shown);
    return buffer;
}

const char *dft_symbols_show(const char *text, size_t length, char *buffer, size_t size)
{
    uint64_t build_id, address;
    const char *name;
    char path[1024];

    if (length > 2 && text[0] == '_' && text[1] == 'Z')
        return show_mangled(text, length, buffer, size);
    if (!dft_symbols_place(text, length, path, &build_id, &address))
        return NULL;
    name = dft_symbols_find(path, build_id, address, NULL);
    if (name)
        return name;
    snprintf(buffer, size, "%s+0x%llx", strrchr(path, '/') + 1, (unsigned long long)address);
    return buffer;
}
