/* SPDX-License-Identifier: MIT */
/* Lists the ranges of all units of a module, and of all functions in line of a unit, once each, so that naming many
 * addresses does not read the debug information as often. Ranges lie inside each other, so the innermost is found by
 * bisection and knows the one around it. */
#include "symbols/scopes.h"

#ifdef DFT_HAVE_LIBDW
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/map.h"

#define RANGES_MAX 4000000u /* of a unit: a damaged file tells no more */
#define DEPTH_MAX  256u
#define NOBODY     UINT32_MAX

struct range {
    Dwarf_Addr start, end;
    Dwarf_Off die;
    uint32_t outer; /* the range around it */
};

struct ranges {
    struct range *list; /* by start; what is around stands first */
    size_t count, capacity;
    Dwarf_Die top; /* of a unit: where its functions are, in a split file or here */
};

/* --- ranges ----------------------------------------------------------------------------------- */

static void add_ranges(struct ranges *ranges, Dwarf_Die *die)
{
    Dwarf_Addr base, start, end;
    ptrdiff_t offset = 0;

    while (ranges->count < RANGES_MAX && (offset = dwarf_ranges(die, offset, &base, &start, &end)) > 0) {
        const struct range range = {start, end, dwarf_dieoffset(die), NOBODY};

        if (start < end && DFT_ARRAY_PUSH(ranges->list, ranges->capacity, ranges->count, range))
            return;
    }
}

static int by_start(const void *left, const void *right)
{
    const struct range *a = left, *b = right;

    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->end != b->end)
        return a->end > b->end ? -1 : 1;
    return (a->die > b->die) - (a->die < b->die);
}

static void nest(struct ranges *ranges)
{
    struct range *list = ranges->list;
    uint32_t open = NOBODY;

    if (ranges->count)
        qsort(list, ranges->count, sizeof *list, by_start);
    for (uint32_t i = 0; i < ranges->count; i++) {
        while (open != NOBODY && list[open].end <= list[i].start)
            open = list[open].outer;
        list[i].outer = open;
        open = i;
    }
}

static uint32_t innermost(const struct ranges *ranges, Dwarf_Addr address)
{
    size_t low = 0, high = ranges->count;
    uint32_t at;

    while (low < high) { /* the first behind it */
        size_t middle = low + (high - low) / 2;

        if (ranges->list[middle].start > address)
            high = middle;
        else
            low = middle + 1;
    }
    at = low ? (uint32_t)low - 1 : NOBODY;
    while (at != NOBODY && ranges->list[at].end <= address)
        at = ranges->list[at].outer;
    return at;
}

/* Ranges that are kept by a pointer of libdw's. *is_new: they are empty yet. NULL: no memory. */
static struct ranges *kept(struct dft_map *map, const void *of, int *is_new)
{
    uint64_t *known = dft_map_put(map, (uint64_t)(uintptr_t)of);

    *is_new = known && !*known;
    if (*is_new)
        *known = (uint64_t)(uintptr_t)calloc(1, sizeof(struct ranges));
    return known ? (struct ranges *)(uintptr_t)*known : NULL;
}

/* --- units ------------------------------------------------------------------------------------ */

/* Not all compilers write a table of them. */
static const struct ranges *units_of(Dwfl_Module *debug)
{
    static struct dft_map modules;
    int is_new;
    struct ranges *units = kept(&modules, debug, &is_new);
    Dwarf_Die *unit = NULL;
    Dwarf_Addr bias;

    while (units && is_new && (unit = dwfl_module_nextcu(debug, unit, &bias)))
        add_ranges(units, unit);
    if (units && is_new)
        nest(units);
    return units;
}

static const char *text_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;

    return dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));
}

/* libdw would wait for a FIFO. */
static int is_regular_or_absent(const char *folder, size_t length, const char *name)
{
    char path[4096];
    struct stat st;

    snprintf(path, sizeof path, "%.*s%s%s", *name == '/' ? 0 : (int)length, folder, *name == '/' ? "" : "/", name);
    return stat(path, &st) || S_ISREG(st.st_mode);
}

/* Where the functions of a unit are, if they are in a split file that can be had. */
static Dwarf_Die split_of(Dwfl_Module *debug, Dwarf_Die *unit)
{
    const char *name = text_of(unit, DW_AT_dwo_name), *folder = text_of(unit, DW_AT_comp_dir), *main, *own, *end;
    Dwarf_Die split = {0};
    uint8_t type;

    if (!name)
        name = text_of(unit, DW_AT_GNU_dwo_name);
    if (!name)
        return *unit;
    dwfl_module_info(debug, NULL, NULL, NULL, NULL, NULL, &main, &own);
    own = own ? own : main;
    end = own ? strrchr(own, '/') : NULL;
    if ((folder && !is_regular_or_absent(folder, strlen(folder), name)) ||
        (end && !is_regular_or_absent(own, (size_t)(end - own), name)) ||
        dwarf_cu_info(unit->cu, NULL, &type, NULL, &split, NULL, NULL, NULL) || !split.addr)
        return *unit;
    return split;
}

static void collect(struct ranges *ranges, Dwarf_Die *around, unsigned depth)
{
    Dwarf_Die die;

    if (depth > DEPTH_MAX || dwarf_child(around, &die))
        return;
    do {
        switch (dwarf_tag(&die)) {
        case DW_TAG_inlined_subroutine:
            add_ranges(ranges, &die);
            collect(ranges, &die, depth + 1);
            break;
        case DW_TAG_subprogram:
        case DW_TAG_lexical_block:
        case DW_TAG_try_block:
        case DW_TAG_catch_block:
        case DW_TAG_namespace:
        case DW_TAG_class_type:
        case DW_TAG_structure_type:
            collect(ranges, &die, depth + 1);
            break;
        default:
            break;
        }
    } while (ranges->count < RANGES_MAX && !dwarf_siblingof(&die, &die));
}

static struct ranges *inlined_of(Dwfl_Module *debug, Dwarf_Die *unit)
{
    static struct dft_map units;
    int is_new;
    struct ranges *ranges = kept(&units, unit->cu, &is_new);

    if (!ranges || !is_new)
        return ranges;
    ranges->top = split_of(debug, unit);
    collect(ranges, &ranges->top, 0);
    nest(ranges);
    return ranges;
}

/* --- addresses -------------------------------------------------------------------------------- */

static const char *name_of(Dwarf_Die *die)
{
    const char *name = text_of(die, DW_AT_linkage_name);

    if (!name)
        name = text_of(die, DW_AT_MIPS_linkage_name);
    return name ? name : text_of(die, DW_AT_name);
}

static Dwarf_Word number_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word number;

    return dwarf_formudata(dwarf_attr(die, name, &attribute), &number) ? 0 : number;
}

/* The scopes of the unit that has the address. */
static unsigned scopes_in(Dwfl_Module *debug, Dwarf_Die *unit, Dwarf_Addr address, struct dft_scope *list)
{
    Dwarf_Line *line = dwarf_getsrc_die(unit, address);
    struct ranges *inlined = line ? inlined_of(debug, unit) : NULL;
    uint32_t at = inlined ? innermost(inlined, address) : NOBODY;
    Dwarf_Files *files = NULL;
    Dwarf_Die die;
    size_t nfiles;
    unsigned n = 0;

    list[0] = (struct dft_scope){.file = line ? dwarf_linesrc(line, NULL, NULL) : NULL};
    if (line)
        dwarf_lineno(line, &list[0].line);
    if (at != NOBODY)
        dwarf_getsrcfiles(&inlined->top, &files, &nfiles);
    for (; at != NOBODY && n + 1 < DFT_SCOPES_MAX; at = inlined->list[at].outer) {
        if (!dwarf_offdie(dwarf_cu_getdwarf(inlined->top.cu), inlined->list[at].die, &die))
            break;
        list[n++].name = name_of(&die);
        list[n] = (struct dft_scope){.line = (int)number_of(&die, DW_AT_call_line)};
        list[n].file = files ? dwarf_filesrc(files, number_of(&die, DW_AT_call_file), NULL, NULL) : NULL;
    }
    return n + 1;
}

unsigned dft_scopes_at(Dwfl_Module *debug, Dwarf_Addr address, struct dft_scope *list)
{
    Dwarf_Addr bias;
    Dwarf *dwarf = dwfl_module_getdwarf(debug, &bias);
    const struct ranges *units = dwarf ? units_of(debug) : NULL;
    uint32_t at = units ? innermost(units, address - bias) : NOBODY;
    Dwarf_Die unit;

    if (at == NOBODY || !dwarf_offdie(dwarf, units->list[at].die, &unit))
        return 0;
    return scopes_in(debug, &unit, address - bias, list);
}
#endif
