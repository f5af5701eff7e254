/* Traces of DFTracer: converted into blocks of our own; nothing behind the source knows of them.
 *
 * One thread takes one file, the largest first. */
#include "source_inside.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "pfw.h"
#include "source_read.h"

/* --- what there is to say about a file ----------------------------------------------------------------------------- */

static void note_damage(struct dft_source *source, const char *path, const struct dft_pfw_counts *counts)
{
    if (counts->why)
        dft_source_note(source, 1, "%s: %s; %" PRIu64 " records before and behind it are used", path, counts->why,
                        counts->records);
    if (counts->invalid)
        dft_source_note(source, 1,
                        "%s: %" PRIu64 " line%s no record (the first is line %" PRIu64
                        "): cut in two, or with quotes inside "
                        "of texts%s; the other %" PRIu64 " records are used",
                        path, counts->invalid, counts->invalid == 1 ? " is" : "s are", counts->first_invalid,
                        counts->torn ? "; the last line is torn" : "", counts->records);
    if (counts->long_lines)
        dft_source_note(source, 1, "%s: %" PRIu64 " lines of more than 16 MiB left out", path, counts->long_lines);
    if (counts->not_kept)
        dft_source_note(source, 1, "%s: %" PRIu64 " events or aggregates are too large to be kept", path,
                        counts->not_kept);
}

static void note_oddities(struct dft_source *source, const char *path, const struct dft_pfw_counts *counts)
{
    if (counts->unknown)
        dft_source_note(source, 0, "%s: %" PRIu64 " records of an unknown kind left out", path, counts->unknown);
    if (counts->repeated)
        dft_source_note(source, 0, "%s: %" PRIu64 " repeated lines, byte for byte, as forked children write them; %s",
                        path, counts->repeated,
                        source->dedupe ? "left out (--dedupe)" : "all are counted (--dedupe leaves them out)");
    if (counts->unchecked)
        dft_source_note(source, 0, "%s: %" PRIu64 " lines were not looked at for repetitions: there are too many", path,
                        counts->unchecked);
    if (counts->long_durations)
        dft_source_note(source, 0, "%s: %" PRIu64 " durations beyond all bounds (a clock that stepped back) taken as 0",
                        path, counts->long_durations);
    if (counts->unresolved)
        dft_source_note(source, 0, "%s: %" PRIu64 " events are on files whose names are not in it", path,
                        counts->unresolved);
    if (counts->ambiguous) {
        atomic_fetch_add(&source->ambiguous, counts->ambiguous);
        atomic_fetch_add(&source->ambiguous_files, 1);
    }
    if (counts->arguments)
        dft_source_note(source, 0, "%s: %" PRIu64 " arguments left out or cut: too many or too long", path,
                        counts->arguments);
    if (counts->estimated) {
        atomic_fetch_add(&source->estimated, counts->estimated);
        atomic_fetch_add(&source->estimated_files, 1);
    }
}

/* What is so by the nature of the traces, and the same in all of them, is said once. */
static void note_traits(struct dft_source *source)
{
    if (source->ambiguous)
        dft_source_note(source, 0,
                        "%" PRIu64 " events in %" PRIu64
                        " files of DFTracer are on files whose hash stands for several names "
                        "there; the last one before each event was taken",
                        source->ambiguous, source->ambiguous_files);
    if (source->estimated)
        dft_source_note(source, 0,
                        "%" PRIu64 " aggregated records in %" PRIu64
                        " files of DFTracer: percentiles of their calls are "
                        "estimates between their smallest and largest",
                        source->estimated, source->estimated_files);
}

static void note_counts(struct dft_source *source, const char *path, const struct dft_pfw_counts *counts)
{
    if (!counts->records && !counts->invalid && !counts->why && !counts->lines)
        dft_source_note(source, 0, "%s: empty", path);
    else if (!counts->records)
        dft_source_note(source, 1, "%s: not a trace: no record in it%s%s", path, counts->why ? "; " : "",
                        counts->why ? counts->why : "");
    else
        note_damage(source, path, counts);
    note_oddities(source, path, counts);
}

/* --- conversion into memory ---------------------------------------------------------------------------------------- */

struct converting {
    struct dft_source *source;
    struct dft_scanned *scanned;
    uint32_t *files; /* largest first */
    struct dft_pfw_worker *workers[DFT_THREADS_MAX];
    uint64_t bytes; /* of all files */
    _Atomic uint64_t done;
};

struct output {
    struct converting *converting;
    struct dft_source_file *file;
    size_t capacity;
    uint64_t seen; /* bytes of the file that `done` has */
};

static int put(void *context, const void *block, size_t bytes)
{
    struct output *output = context;
    struct dft_source_file *file = output->file;

    if (file->memory_bytes + bytes > output->capacity) {
        size_t capacity = 2 * output->capacity + bytes;
        char *bigger = realloc(file->memory, capacity);

        if (!bigger)
            return -ENOMEM;
        file->memory = bigger;
        output->capacity = capacity;
    }
    memcpy(file->memory + file->memory_bytes, block, bytes);
    file->memory_bytes += bytes;
    return 0;
}

static int again(void *context)
{
    struct output *output = context;

    output->file->memory_bytes = 0;
    return 0;
}

static void progress(void *context, uint64_t bytes)
{
    struct output *output = context;
    struct converting *converting = output->converting;
    uint64_t new = bytes > output->seen ? bytes - output->seen : 0;

    output->seen += new;
    dft_source_progress(converting->source, "MiB of DFTracer traces converted",
                        (atomic_fetch_add(&converting->done, new) + new) >> 20, (converting->bytes >> 20) + 1);
}

/* The keys of its processes come from here: no two files that are there at the same time have one. */
static uint64_t identity_of(const struct stat *st)
{
    uint64_t words[5] = {(uint64_t)st->st_dev, (uint64_t)st->st_ino, (uint64_t)st->st_size,
                         (uint64_t)st->st_mtim.tv_sec, (uint64_t)st->st_mtim.tv_nsec};

    return dft_name_id(words, sizeof words);
}

static int convert(struct converting *converting, uint32_t number, struct dft_pfw_worker *worker)
{
    struct dft_source_file *file = &converting->source->files[number];
    struct output output = {.converting = converting, .file = file};
    struct dft_pfw_job job = {.path = file->path, .put = put, .again = again, .progress = progress, .context = &output};
    struct dft_decoder *decoder;
    struct stat st;
    int rc = stat(file->path, &st) ? -errno : 0;

    if (!rc) {
        job.identity = identity_of(&st);
        rc = dft_pfw_convert(worker, &job, &file->counts);
    }
    if (rc && rc != -ENOMEM) {
        file->error = -rc;
        dft_source_note(converting->source, 1, "%s: %s", file->path, strerror(-rc));
        return 0;
    }
    if (rc)
        return rc;
    note_counts(converting->source, file->path, &file->counts);
    decoder = dft_decoder_create();
    rc = decoder ? dft_scan_bytes(converting->source, number, file->memory, file->memory_bytes, decoder,
                                  &converting->scanned[number])
                 : -ENOMEM;
    dft_decoder_destroy(decoder);
    return rc;
}

static int convert_piece(void *context, unsigned worker, size_t from, size_t to)
{
    struct converting *converting = context;
    int rc = 0;

    if (!converting->workers[worker])
        converting->workers[worker] = dft_pfw_worker_create();
    if (!converting->workers[worker])
        return -ENOMEM;
    for (size_t i = from; !rc && i < to; i++)
        rc = convert(converting, converting->files[i], converting->workers[worker]);
    return rc;
}

static int by_size(const void *left, const void *right, void *context)
{
    const struct dft_source_file *files = context, *a = &files[*(const uint32_t *)left],
                                 *b = &files[*(const uint32_t *)right];

    return a->bytes != b->bytes                                 ? (a->bytes < b->bytes ? 1 : -1)
           : *(const uint32_t *)left < *(const uint32_t *)right ? -1
                                                                : 1;
}

int dft_foreign_files(struct dft_source *source, struct dft_scanned *scanned)
{
    struct converting converting = {.source = source, .scanned = scanned};
    size_t count = 0;
    int rc;

    converting.files = malloc((source->nfiles + 1u) * sizeof *converting.files);
    if (!converting.files)
        return -ENOMEM;
    for (uint32_t f = 0; f < source->nfiles; f++) {
        if (source->files[f].kind != DFT_FILE_FOREIGN || source->files[f].error)
            continue;
        converting.files[count++] = f;
        converting.bytes += source->files[f].bytes;
    }
    qsort_r(converting.files, count, sizeof *converting.files, by_size, source->files);
    rc = dft_work_run(source->threads, count, 1, convert_piece, &converting);
    dft_source_progress(source, "", 1, 1);
    note_traits(source);
    for (unsigned i = 0; i < DFT_THREADS_MAX; i++)
        dft_pfw_worker_destroy(converting.workers[i]);
    free(converting.files);
    return rc;
}
