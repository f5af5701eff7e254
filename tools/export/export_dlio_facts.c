/* SPDX-License-Identifier: MIT */
/* Finds what a trace tells of a training; see export_dlio_facts.h. */
#include "export/export_dlio_facts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/names.h"
#include "base/saturate.h"
#include "export/export_model_finish.h"
#include "format/hash.h"
#include "job/region_kinds.h"

#define TRAINS (1u << DFT_REGION_EPOCH | 1u << DFT_REGION_STEP | 1u << DFT_REGION_COMPUTE | 1u << DFT_REGION_DATA)
#define WORKER "DataLoader worker "

/* A file that loaders read. */
struct file {
    struct dft_text path;
    uint64_t extent, bytes, ios;
};

/* Files of one ending. */
struct ending {
    struct dft_text text;
    uint64_t bytes;
};

struct finding {
    struct dft_dlio_facts *facts;
    const struct dft_model *model;
    struct dft_map trains, loads; /* key of a process -> 1 */
    struct dft_map ending_of;     /* hash of an ending -> position + 1 */
    struct file *files;
    struct ending *endings;
    size_t nfiles, files_capacity, nendings, endings_capacity;
};

/* --- who does what ---------------------------------------------------------------------------- */

static int is_worker(const struct dft_source_process *process)
{
    struct dft_text role = process->process.role;

    return role.length > strlen(WORKER) && !memcmp(role.bytes, WORKER, strlen(WORKER));
}

/* "DataLoader worker 3/8": 8. */
static uint64_t workers_of(struct dft_text role)
{
    const char *slash = memrchr(role.bytes, '/', role.length);
    uint64_t number = 0;

    for (const char *at = slash ? slash + 1 : role.bytes + role.length;
         at < role.bytes + role.length && *at >= '0' && *at <= '9' && number < 100000; at++)
        number = number * 10 + (uint64_t)(*at - '0');
    return number;
}

static int mark(struct dft_map *map, uint64_t key)
{
    uint64_t *value = dft_map_put(map, key);

    if (value)
        *value = 1;
    return value ? 0 : -ENOMEM;
}

static int is_trainer(const struct finding *finding, const struct dft_source_process *process)
{
    return dft_map_find(&finding->trains, process->key) != NULL;
}

static int find_trainers(struct finding *finding)
{
    const struct dft_model *model = finding->model;
    struct dft_dlio_facts *facts = finding->facts;
    struct dft_text category, name;
    char text[18];
    int rc = 0;

    for (size_t i = 0; i < model->nregions && !rc; i++) {
        const struct dft_model_region *region = &model->regions[i];

        dft_names_call(model->export->names, region->call, &category, &name, text);
        facts->is_torch |= category.length == 5 && !memcmp(category.bytes, "torch", 5);
        if (!(region->kinds & TRAINS) || is_worker(region->process))
            continue;
        rc = mark(&finding->trains, region->process->key);
        if (!facts->has_regions)
            facts->trainer = dft_model_who(region->process);
        facts->has_regions = 1;
    }
    facts->trainers = finding->trains.count;
    return rc;
}

/* Workers of PyTorch load; else processes that a trainer is not; else trainers; else everybody. */
static int find_loaders(struct finding *finding)
{
    const struct dft_model *model = finding->model;
    struct dft_dlio_facts *facts = finding->facts;
    uint64_t others = 0;
    unsigned best = 0;
    int rc = 0;

    for (int pass = 0; pass < 2 && !rc; pass++)
        for (size_t i = 0; i < model->nunits && !rc; i++) {
            const struct dft_source_process *process = model->units[i].process;
            unsigned rating = is_worker(process) ? 3 : is_trainer(finding, process) ? 2 : 1;

            if (model->units[i].is_write)
                continue;
            best = rating > best ? rating : best;
            if (pass && (rating == best || (best < 3 && facts->has_regions)))
                rc = mark(&finding->loads, process->key);
            if (pass && rating == 3 && workers_of(process->process.role) > facts->workers)
                facts->workers = workers_of(process->process.role);
        }
    facts->has_workers = best == 3;
    facts->is_torch |= facts->has_workers;
    facts->loaders = finding->loads.count;
    for (size_t i = 0; i < finding->loads.capacity && !facts->has_workers && facts->trainers; i++)
        others += finding->loads.slots[i].key && !dft_map_find(&finding->trains, finding->loads.slots[i].key);
    if (others)
        facts->workers = (others + facts->trainers - 1) / facts->trainers;
    return rc;
}

static int loads(const struct finding *finding, const struct dft_model_unit *unit)
{
    return !unit->is_write && dft_map_find(&finding->loads, unit->process->key);
}

/* --- regions ---------------------------------------------------------------------------------- */

/* Regions of several names may lie in each other: the name with most of them counts. Returns the most of one process
 * (each 1), or of all together. */
static uint64_t most(const struct finding *finding, unsigned kind, int each)
{
    const struct dft_model *model = finding->model;
    struct dft_map sums = {0};
    uint64_t best = 0;

    for (size_t i = 0; i < model->nregions; i++) {
        const struct dft_model_region *region = &model->regions[i];
        uint64_t *sum = NULL;

        if (kind < DFT_REGION_KINDS ? !(region->kinds >> kind & 1) : !region->is_checkpoint)
            continue;
        if (kind != DFT_REGION_ITEM && is_worker(region->process))
            continue;
        sum = each ? NULL : dft_map_put(&sums, region->call);
        if (sum)
            *sum += region->count;
        if ((sum ? *sum : region->count) > best)
            best = sum ? *sum : region->count;
    }
    dft_map_fini(&sums);
    return best;
}

static void add_times(struct finding *finding)
{
    struct dft_dlio_facts *facts = finding->facts;

    for (size_t i = 0; i < finding->model->nregions; i++) {
        const struct dft_model_region *region = &finding->model->regions[i];

        if (is_worker(region->process))
            continue;
        if (region->kinds >> DFT_REGION_COMPUTE & 1 && region->self_ns > 0)
            facts->compute_ns += (uint64_t)region->self_ns;
        if (region->kinds >> DFT_REGION_STEP & 1)
            facts->step_ns += region->time_ns;
        if (region->kinds >> DFT_REGION_DATA & 1 && region->self_ns > 0)
            facts->data_ns += (uint64_t)region->self_ns;
    }
}

static void find_regions(struct finding *finding)
{
    struct dft_dlio_facts *facts = finding->facts;
    uint64_t all = most(finding, DFT_REGION_KINDS, 0);

    facts->epochs = most(finding, DFT_REGION_EPOCH, 1);
    facts->steps = most(finding, DFT_REGION_STEP, 0);
    facts->samples = most(finding, DFT_REGION_ITEM, 0);
    facts->checkpoints = most(finding, DFT_REGION_KINDS, 1);
    facts->checkpoint_bytes = all ? finding->model->checkpoint_bytes / all : 0;
    add_times(finding);
}

/* --- files ------------------------------------------------------------------------------------ */

static struct dft_text base_of(struct dft_text path)
{
    const char *slash = path.length ? memrchr(path.bytes, '/', path.length) : NULL;

    return slash ? (struct dft_text){slash + 1, path.length - (uint32_t)(slash + 1 - path.bytes)} : path;
}

static struct dft_text ending_of(struct dft_text path)
{
    struct dft_text base = base_of(path);
    const char *dot = base.length ? memrchr(base.bytes, '.', base.length) : NULL;

    return dot && dot != base.bytes ? (struct dft_text){dot + 1, base.length - (uint32_t)(dot + 1 - base.bytes)}
                                    : (struct dft_text){"", 0};
}

static int compare_texts(struct dft_text a, struct dft_text b)
{
    int order = memcmp(a.bytes, b.bytes, a.length < b.length ? a.length : b.length);

    return order ? order : (a.length > b.length) - (a.length < b.length);
}

static int list_files(struct finding *finding)
{
    const struct dft_model *model = finding->model;
    uint64_t last = 0;

    for (size_t i = 0; i < model->nuses; i++) {
        const struct dft_model_use *use = &model->uses[i];
        struct file *file;

        if (!loads(finding, &model->units[use->unit]))
            continue;
        if (!finding->nfiles || use->file != last) {
            struct file new = {.path = dft_names_text(model->export->names, use->file)};

            new.path = new.path.bytes ? new.path : (struct dft_text){"", 0};
            if (DFT_ARRAY_PUSH(finding->files, finding->files_capacity, finding->nfiles, new))
                return -ENOMEM;
        }
        last = use->file;
        file = &finding->files[finding->nfiles - 1];
        file->extent = use->extent > file->extent ? use->extent : file->extent;
        file->bytes += use->bytes;
        file->ios += use->ios;
    }
    return 0;
}

/* The ending of most bytes; of several the first by its text. */
static int find_ending(struct finding *finding)
{
    struct ending *best = NULL;

    for (size_t i = 0; i < finding->nfiles; i++) {
        struct dft_text text = ending_of(finding->files[i].path);
        uint64_t *at = dft_map_put(&finding->ending_of, dft_map_join(dft_name_id(text.bytes, text.length), 0));

        if (!at || (!*at && DFT_ARRAY_PUSH(finding->endings, finding->endings_capacity, finding->nendings,
                                           (struct ending){.text = text})))
            return -ENOMEM;
        *at = *at ? *at : finding->nendings;
        finding->endings[*at - 1].bytes += finding->files[i].bytes;
    }
    for (size_t k = 0; k < finding->nendings; k++) {
        struct ending *ending = &finding->endings[k];

        if (!best || ending->bytes > best->bytes ||
            (ending->bytes == best->bytes && compare_texts(ending->text, best->text) < 0))
            best = ending;
    }
    finding->facts->ending = best ? best->text : (struct dft_text){"", 0};
    return 0;
}

static struct dft_text common(struct dft_text a, struct dft_text b)
{
    uint32_t length = 0;

    while (length < a.length && length < b.length && a.bytes[length] == b.bytes[length])
        length++;
    return (struct dft_text){a.bytes, length};
}

static void add_file(struct dft_dlio_facts *facts, const struct file *file)
{
    struct dft_text base = base_of(file->path), folder = {file->path.bytes, file->path.length - base.length};

    facts->folder = facts->files ? common(facts->folder, folder) : folder;
    facts->prefix = facts->files ? common(facts->prefix, base) : base;
    facts->file_min = !facts->files || file->extent < facts->file_min ? file->extent : facts->file_min;
    facts->file_max = file->extent > facts->file_max ? file->extent : facts->file_max;
    facts->files++;
    facts->file_bytes += file->extent;
    facts->read_bytes += file->bytes;
    facts->reads += file->ios;
}

static void sum_files(struct finding *finding)
{
    struct dft_dlio_facts *facts = finding->facts;
    double squares = 0, mean;
    uint32_t length = 0;

    for (size_t i = 0; i < finding->nfiles; i++)
        if (!compare_texts(ending_of(finding->files[i].path), facts->ending))
            add_file(facts, &finding->files[i]);
    facts->other_files = finding->nfiles - facts->files;
    mean = (double)facts->file_bytes / (double)facts->files;
    for (size_t i = 0; i < finding->nfiles; i++)
        if (!compare_texts(ending_of(finding->files[i].path), facts->ending)) {
            double off = (double)finding->files[i].extent - mean;

            squares += off * off;
        }
    facts->file_stdev = dft_uint_of(round(sqrt(squares / (double)facts->files)));
    facts->passes = facts->file_bytes ? (facts->read_bytes + facts->file_bytes / 2) / facts->file_bytes : 0;
    while (length < facts->prefix.length && (facts->prefix.bytes[length] < '0' || facts->prefix.bytes[length] > '9') &&
           facts->prefix.bytes[length] != '.')
        length++;
    while (length && strchr("_-", facts->prefix.bytes[length - 1])) /* DLIO puts one there itself */
        length--;
    facts->prefix.length = length;
    while (facts->folder.length > 1 && facts->folder.bytes[facts->folder.length - 1] != '/')
        facts->folder.length--;
}

/* The size that moved most bytes. */
static void find_transfer(struct finding *finding)
{
    struct dft_model_size sums[DFT_SIZE_CLASSES] = {{0}};
    const struct dft_model_size *best = &sums[0];

    for (size_t i = 0; i < finding->model->nunits; i++) {
        const struct dft_model_unit *unit = &finding->model->units[i];

        if (!loads(finding, unit))
            continue;
        finding->facts->threads++;
        for (unsigned size = 0; size < DFT_SIZE_CLASSES; size++) {
            sums[size].bytes += unit->sizes[size].bytes;
            sums[size].ios += unit->sizes[size].ios;
        }
    }
    for (unsigned size = 1; size < DFT_SIZE_CLASSES; size++)
        best = sums[size].bytes > best->bytes ? &sums[size] : best;
    finding->facts->transfer = best->ios ? (best->bytes + best->ios / 2) / best->ios : 0;
}

int dft_dlio_facts_find(struct dft_dlio_facts *facts, const struct dft_model *model)
{
    struct finding finding = {.facts = facts, .model = model};
    int rc;

    *facts = (struct dft_dlio_facts){0};
    rc = find_trainers(&finding);
    if (!rc)
        rc = find_loaders(&finding);
    if (!rc)
        rc = list_files(&finding);
    if (!rc)
        rc = find_ending(&finding);
    if (!rc && !finding.nfiles)
        rc = -ENODATA;
    if (!rc) {
        sum_files(&finding);
        find_transfer(&finding);
        find_regions(&finding);
    }
    dft_map_fini(&finding.trains);
    dft_map_fini(&finding.loads);
    dft_map_fini(&finding.ending_of);
    free(finding.files);
    free(finding.endings);
    return rc;
}
