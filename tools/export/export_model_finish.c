/* SPDX-License-Identifier: MIT */
/* Sums up what a benchmark must know, and words for what it cannot do; see export_model.h. */
#include "export/export_model_finish.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/write_text.h"
#include "object/source_notes.h"
#include "views/source_unordered.h"

static int compare_units(const void *left, const void *right)
{
    const struct dft_model_unit *a = left, *b = right;

    if (a->process->number != b->process->number)
        return a->process->number < b->process->number ? -1 : 1;
    if (a->tid != b->tid)
        return a->tid < b->tid ? -1 : 1;
    return a->is_write - b->is_write;
}

static int compare_uses(const void *left, const void *right)
{
    const struct dft_model_use *a = left, *b = right;

    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    return a->unit < b->unit ? -1 : a->unit > b->unit;
}

static int compare_regions(const void *left, const void *right)
{
    const struct dft_model_region *a = left, *b = right;

    if (a->process != b->process)
        return a->process->number < b->process->number ? -1 : 1;
    return a->call < b->call ? -1 : a->call > b->call;
}

/* Half of the accesses at random places lie behind the one before, and look sequential with a gap. */
static void find_random(const struct dft_model *model, struct dft_model_unit *unit)
{
    const uint64_t *opens = dft_map_find(&model->opens, dft_map_join(unit->process->key, unit->tid));
    const uint64_t *accesses = unit->accesses;
    uint64_t back = accesses[DFT_ACCESS_RANDOM], gaps = accesses[DFT_ACCESS_SEQUENTIAL];

    back = !opens ? back : *opens < back ? back - *opens : 0;
    unit->random = back + (gaps < back ? gaps : back);
    unit->placed = accesses[DFT_ACCESS_RANDOM] + accesses[DFT_ACCESS_STRIDED] + gaps + accesses[DFT_ACCESS_CONSECUTIVE];
}

/* Units that move nothing go. What they flushed is of no write that is known. */
static void sum_up(struct dft_model *model)
{
    size_t kept = 0;

    for (size_t i = 0; i < model->nunits; i++) {
        struct dft_model_unit unit = model->units[i];

        for (unsigned size = 0; size < DFT_SIZE_CLASSES; size++) {
            unit.ios += unit.sizes[size].ios;
            unit.bytes += unit.sizes[size].bytes;
            unit.calls += unit.sizes[size].calls;
        }
        find_random(model, &unit);
        if (unit.first_ns > unit.last_ns) /* rows do not know when */
            unit.first_ns = unit.last_ns = unit.process->start_ns;
        if (unit.ios)
            model->units[kept++] = unit;
        else
            model->left[DFT_MODEL_LEFT_SYNC] += unit.fsyncs + unit.fdatasyncs;
    }
    model->nunits = kept;
}

/* Sorts units; uses keep theirs by its key. */
static int sort_units(struct dft_model *model)
{
    uint64_t *keys = malloc((model->nuses + 1) * sizeof *keys);

    if (!keys)
        return -ENOMEM;
    for (size_t i = 0; i < model->nuses; i++) {
        const struct dft_model_unit *unit = &model->units[model->uses[i].unit];

        keys[i] = dft_map_join(dft_map_join(unit->process->key, unit->tid), (uint64_t)unit->is_write);
    }
    sum_up(model);
    if (model->nunits)
        qsort(model->units, model->nunits, sizeof *model->units, compare_units);
    for (size_t i = 0; i < model->nunits; i++) {
        const struct dft_model_unit *unit = &model->units[i];
        uint64_t key = dft_map_join(dft_map_join(unit->process->key, unit->tid), (uint64_t)unit->is_write);

        *dft_map_find(&model->unit_of, key) = i + 1;
    }
    for (size_t i = 0; i < model->nuses; i++)
        model->uses[i].unit = (uint32_t)(*dft_map_find(&model->unit_of, keys[i]) - 1);
    free(keys);
    if (model->nuses)
        qsort(model->uses, model->nuses, sizeof *model->uses, compare_uses);
    return 0;
}

static int take_open(void *context, const struct dft_event_at *at)
{
    struct dft_model *model = context;
    uint64_t *flags;

    if (at->op != DFT_OP_OPEN || !(at->event->flags & (O_DIRECT | O_SYNC)) || at->event->err || !at->event->file)
        return 0;
    flags = dft_map_put(&model->flags, dft_map_join(at->process->key, at->event->file));
    if (!flags)
        return -ENOMEM;
    *flags |= (uint64_t)(at->event->flags & (O_DIRECT | O_SYNC));
    return 0;
}

/* O_SYNC has the bit of O_DSYNC, too. */
static void count_flags(struct dft_model_unit *unit, uint64_t flags)
{
    unit->direct += (flags & O_DIRECT) != 0;
    unit->sync += (flags & O_SYNC) == O_SYNC;
    unit->dsync += (flags & O_SYNC) == O_DSYNC;
}

int dft_model_finish(struct dft_model *model)
{
    int rc = sort_units(model);

    if (model->nregions)
        qsort(model->regions, model->nregions, sizeof *model->regions, compare_regions);
    model->has_opens = dft_source_kept(model->export->source) != DFT_KEPT_NONE;
    if (!rc && model->has_opens && model->nuses)
        rc = dft_source_unordered(model->export->source, model->export->filter, take_open, model);
    for (size_t i = 0; !rc && i < model->nuses; i++) {
        struct dft_model_unit *unit = &model->units[model->uses[i].unit];
        const uint64_t *flags = dft_map_find(&model->flags, dft_map_join(unit->process->key, model->uses[i].file));

        unit->files++;
        count_flags(unit, flags ? *flags : 0);
    }
    return rc;
}

int dft_model_say_nothing(const char *format, const char *what)
{
    fprintf(stderr,
            "dftmerge: export --format %s: no %s is known that a benchmark could repeat. `dftmerge summary PATH` shows "
            "what was recorded; leave out filters, or record with --data-dir that has the files.\n",
            format, what);
    return DFT_EXPORT_SAID;
}

struct dft_text dft_model_who(const struct dft_source_process *process)
{
    struct dft_text exe = process->process.exe;
    const char *slash = exe.length ? memrchr(exe.bytes, '/', exe.length) : NULL;

    if (process->process.role.length)
        return process->process.role;
    if (slash)
        return (struct dft_text){slash + 1, exe.length - (uint32_t)(slash + 1 - exe.bytes)};
    return exe.length ? exe : (struct dft_text){"unknown program", 15};
}

void dft_model_comment(FILE *out, struct dft_text text)
{
    dft_text_escape(out, text.bytes, text.length);
}

void dft_model_lack(struct dft_model *model, const char *format, ...)
{
    char line[512];
    va_list list;

    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    fprintf(model->export->out, "# - %s\n", line);
    dft_source_note(model->export->source, 0, "not taken over: %s", line);
}

void dft_model_lacks(struct dft_model *model)
{
    static const char *const lines[DFT_MODEL_LEFTS] = {
        [DFT_MODEL_LEFT_META] = "calls on names and attributes (open, close, stat ...)",
        [DFT_MODEL_LEFT_SEEK] = "calls that only move or ask for a position",
        [DFT_MODEL_LEFT_MAP] = "mappings (mmap ...), whose reads and writes are not recorded",
        [DFT_MODEL_LEFT_STARTUP] = "calls on libraries and settings, which the start of a program reads",
        [DFT_MODEL_LEFT_WAIT] = "calls that wait: on pipes, sockets, shared memory, locks and children",
        [DFT_MODEL_LEFT_REQUEST] = "calls that submit asynchronous requests or wait for them",
        [DFT_MODEL_LEFT_SYNC] = "calls that flush (sync, msync ..., or of a thread that wrote nothing)",
        [DFT_MODEL_LEFT_ERRORS] = "calls that failed",
    };
    uint64_t empty = 0, stream = 0, strided = 0;

    for (size_t i = 0; i < model->nunits; i++) {
        empty += model->units[i].calls - model->units[i].ios;
        stream += model->units[i].ways[DFT_MODEL_STREAM];
        strided += model->units[i].accesses[DFT_ACCESS_STRIDED];
    }
    for (unsigned i = 0; i < DFT_MODEL_LEFTS; i++)
        if (model->left[i])
            dft_model_lack(model, "%s: %llu", lines[i], (unsigned long long)model->left[i]);
    if (empty)
        dft_model_lack(model, "calls that moved nothing, at the end of a file: %llu", (unsigned long long)empty);
    if (stream)
        dft_model_lack(model, "the buffers of the C library, behind fread, fwrite and the like; their calls: %llu",
                       (unsigned long long)stream);
    if (strided)
        dft_model_lack(model, "accesses at constant distances (strides): %llu", (unsigned long long)strided);
    if (model->unsplit)
        dft_model_lack(model, "files of calls of which only aggregates were kept: %llu",
                       (unsigned long long)model->unsplit);
}

static int are_most(uint64_t some, const struct dft_model_unit *unit)
{
    return some * 2 > unit->files;
}

void dft_model_lack_flags(struct dft_model *model, int is_taken)
{
    uint64_t direct = 0, sync = 0;

    for (size_t i = 0; i < model->nunits; i++) {
        const struct dft_model_unit *unit = &model->units[i];
        uint64_t waits = unit->is_write ? unit->sync + unit->dsync : 0;

        direct += is_taken && are_most(unit->direct, unit) ? 0 : unit->direct;
        sync += is_taken && are_most(waits, unit) ? 0 : waits;
    }
    if (direct)
        dft_model_lack(model, "O_DIRECT of files that threads read or write: %llu", (unsigned long long)direct);
    if (sync)
        dft_model_lack(model, "O_SYNC or O_DSYNC of files that threads write: %llu", (unsigned long long)sync);
    if (!model->has_opens)
        dft_model_lack(model, "flags of opens (O_DIRECT, O_SYNC, O_DSYNC): only aggregates were kept");
}
