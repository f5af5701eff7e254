/* SPDX-License-Identifier: MIT */
/* `--format fio`: a job file that does the like; see export_fio.h. */
#include "export/export_fio.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/write_text.h"
#include "export/export_fio_job.h"
#include "export/export_model_finish.h"
#include "mpi/comm.h"

#define SECTOR       512u /* O_DIRECT moves whole ones */
#define DELAY_MIN_NS 10000000u
#define PAUSE_MIN_NS 100000u /* shorter ones come together, behind several I/Os */
#define PAUSES_PART  20u     /* pauses that take less than one in so many of the time are left out */
#define OPEN_FILES   256u

struct fio {
    struct dft_model model;
    struct dft_fio_sections sections;
    FILE *out;
    uint64_t misaligned, few_syncs, part_shared, fewer_files; /* what could not be taken over: jobs, calls, files */
};

static const char *const engines[] = {[DFT_FIO_SYNC] = "sync", [DFT_FIO_PSYNC] = "psync", [DFT_FIO_LIBAIO] = "libaio"};
static const char *const directions[2] = {"read", "write"};

/* --- one job ---------------------------------------------------------------------------------- */

/* fio cuts sizes to multiples of the least one, unless an option forbids that. */
static int would_be_cut(const struct dft_fio_job *job)
{
    uint64_t least = UINT64_MAX;

    for (unsigned dir = 0; dir < 2; dir++)
        for (unsigned i = 0; i < job->flows[dir].count; i++)
            if (job->flows[dir].entries[i].bytes < least)
                least = job->flows[dir].entries[i].bytes;
    for (unsigned dir = 0; dir < 2; dir++)
        for (unsigned i = 0; i < job->flows[dir].count; i++)
            if (job->flows[dir].entries[i].bytes % least)
                return 1;
    return 0;
}

static void put_sizes(const struct dft_fio_job *job, FILE *out)
{
    int is_split = job->flows[0].count > 1 || job->flows[1].count > 1,
        has_both = job->flows[0].ios && job->flows[1].ios;

    if (job->flows[0].is_bent || job->flows[1].is_bent)
        fputs("# sizes are changed a little, so that whole percents give the recorded bytes\n", out);
    fputs(is_split ? "bssplit=" : "bs=", out);
    for (unsigned dir = 0; dir < 2; dir++) {
        const struct dft_fio_flow *flow = &job->flows[dir];

        if (dir && has_both)
            fputc(',', out);
        for (unsigned i = 0; i < flow->count; i++) {
            fprintf(out, "%s%" PRIu64, i ? ":" : "", flow->entries[i].bytes);
            if (is_split)
                fprintf(out, "/%u", flow->entries[i].percent);
        }
    }
    fputc('\n', out);
    if (is_split && would_be_cut(job))
        fputs("# sizes as they are, no multiples of the least one\nbs_unaligned=1\n", out);
}

/* fio shares files among threads only where these are listed by name. */
static void put_shared(FILE *out, unsigned number, uint64_t count)
{
    fputs("filename=", out);
    for (uint64_t i = 0; i < count; i++)
        fprintf(out, "%s%02u.%" PRIu64, i ? ":" : "", number, i);
    fputc('\n', out);
}

static void put_files(struct fio *fio, const struct dft_fio_job *job, unsigned number)
{
    const struct dft_fio_section *section = job->section;

    fprintf(fio->out,
            "# files: %" PRIu64 " in all, of %" PRIu64 " to %" PRIu64 " bytes, as far as they were accessed%s\n",
            section->files, section->extent_min, section->extent_max,
            job->is_shared       ? "; all threads use the same"
            : section->count > 1 ? "; here each thread has its own"
                                 : "");
    if (job->fewer_files)
        fputs("# these are fewer and larger, so that their ends matter less for the sizes that fio draws\n", fio->out);
    if (job->is_shared)
        put_shared(fio->out, number, job->files);
    fprintf(fio->out, "nrfiles=%" PRIu64 "\nfilesize=%" PRIu64 "\nsize=%" PRIu64 "\n", job->files, job->file_bytes,
            job->files * job->file_bytes);
    if (job->files > 1)
        fputs("file_service_type=sequential\n", fio->out);
    if (job->files > OPEN_FILES)
        fprintf(fio->out, "openfiles=%u\n", OPEN_FILES);
    fio->fewer_files += job->fewer_files * (job->is_shared ? 1 : section->count);
    fio->part_shared += !job->is_shared && section->used > section->files;
}

/* Pauses between I/Os: the threads' time outside of their calls. */
static void put_pauses(const struct dft_fio_job *job, FILE *out)
{
    const struct dft_fio_section *section = job->section;
    uint64_t ios = job->flows[0].ios + job->flows[1].ios, idle = section->wall_ns - section->busy_ns,
             pause = idle / ios;
    uint64_t blocks = pause && pause < PAUSE_MIN_NS ? (PAUSE_MIN_NS + pause - 1) / pause : 1;

    if (section->wall_ns < section->busy_ns || idle < section->wall_ns / PAUSES_PART || !pause ||
        blocks > ios / section->count)
        return;
    fprintf(out, "# %" PRIu64 " ns pass between an I/O and the next one, on average\nthinktime=%" PRIu64 "\n", pause,
            pause * blocks / 1000);
    if (blocks > 1)
        fprintf(out, "thinktime_blocks=%" PRIu64 "\n", blocks);
}

/* Where each size has a job, the one with most writes flushes. */
static int is_flushed(const struct dft_fio_job *job)
{
    const struct dft_model_size *sizes = job->section->sizes[1];

    for (unsigned size = 0; job->size != DFT_FIO_ALL && size < DFT_SIZE_CLASSES; size++)
        if (sizes[size].ios > sizes[job->size].ios || (size < job->size && sizes[size].ios == sizes[job->size].ios))
            return 0;
    return 1;
}

static void put_syncs(struct fio *fio, const struct dft_fio_job *job)
{
    const struct dft_fio_section *section = job->section;
    const uint64_t syncs[2] = {section->fsyncs, section->fdatasyncs};
    uint64_t writes = job->flows[1].ios;

    for (unsigned i = 0; writes && i < 2; i++) {
        uint64_t every = syncs[i] ? (writes + syncs[i] / 2) / syncs[i] : 0;

        if (!syncs[i] || !is_flushed(job))
            continue;
        fprintf(fio->out, "# %" PRIu64 " calls of %s, for %" PRIu64 " writes\n", syncs[i], i ? "fdatasync" : "fsync",
                writes);
        if (syncs[i] >= 2 * section->count || i)
            fprintf(fio->out, "%s=%" PRIu64 "\n", i ? "fdatasync" : "fsync", every ? every : 1);
        else if (syncs[i] == section->count)
            fputs("end_fsync=1\n", fio->out);
        else
            fio->few_syncs += syncs[i];
    }
}

static int is_aligned(const struct dft_fio_job *job)
{
    for (unsigned dir = 0; dir < 2; dir++)
        for (unsigned i = 0; i < job->flows[dir].count; i++)
            if (job->flows[dir].entries[i].bytes % SECTOR)
                return 0;
    return 1;
}

static void put_way(struct fio *fio, const struct dft_fio_job *job)
{
    const struct dft_fio_section *section = job->section;
    const struct dft_fio_lane *lane = section->lanes;
    uint64_t depth = section->wall_ns ? (section->flying_ns + section->wall_ns - 1) / section->wall_ns : 1;
    int is_random = lane->random >= DFT_FIO_RANDOM, has_both = job->flows[0].ios && job->flows[1].ios;
    const char *random = is_random ? "rand" : "";

    fprintf(fio->out, "# about %u %% of the accesses are at random places\nrw=%s%s\n", lane->random * 10, random,
            has_both ? "rw" : directions[!job->flows[0].ios]);
    if (is_random && lane->random < 10)
        fprintf(fio->out, "percentage_random=%u0\n", lane->random);
    if (is_random)
        fputs("norandommap=1\n", fio->out);
    if (has_both)
        fprintf(fio->out, "# %" PRIu64 " reads, %" PRIu64 " writes\nrwmixread=%u\n", job->flows[0].ios,
                job->flows[1].ios, job->read_percent);
    fprintf(fio->out, "# %s\nioengine=%s\n",
            lane->engine == DFT_FIO_LIBAIO  ? "asynchronous requests"
            : lane->engine == DFT_FIO_PSYNC ? "calls with an offset (pread, pwrite)"
            : lane->is_stream               ? "calls on streams (fread, fwrite)"
                                            : "calls at the descriptor's position (read, write)",
            engines[lane->engine]);
    if (lane->engine == DFT_FIO_LIBAIO)
        fprintf(fio->out, "# so many requests are in flight, on average\niodepth=%" PRIu64 "\n", depth);
    if (lane->is_direct && is_aligned(job))
        fputs("# files are opened with O_DIRECT\ndirect=1\n", fio->out);
    fio->misaligned += lane->is_direct && !is_aligned(job);
    if (lane->wait && job->flows[1].ios)
        fprintf(fio->out, "# files are opened with %s\nsync=%s\n", lane->wait == DFT_FIO_OSYNC ? "O_SYNC" : "O_DSYNC",
                lane->wait == DFT_FIO_OSYNC ? "1" : "dsync");
}

static int is_one_process(const struct dft_fio_section *section)
{
    const struct dft_model_unit *first = section->lanes->units[0] ? section->lanes->units[0] : section->lanes->units[1];

    for (size_t i = 1; i < section->count; i++) {
        const struct dft_model_unit *unit = section->lanes[i].units[first->is_write];

        if (unit->process != first->process)
            return 0;
    }
    return section->count > 1;
}

/* How much each of `threads` does. fio ends a job at io_size, of sizes and directions that it draws
 * at number_ios. */
static void put_amount(const struct dft_fio_job *job, uint64_t threads, uint64_t ios, FILE *out)
{
    int is_drawn = job->flows[0].count + job->flows[1].count > 1;

    fprintf(out, "numjobs=%" PRIu64 "\n", threads);
    if (is_drawn)
        fprintf(out, "number_ios=%" PRIu64 "\n", ios);
    fprintf(out, "io_size=%" PRIu64 "\n", job->largest * ios);
}

static void put_job(struct fio *fio, const struct dft_fio_job *job, unsigned number, const char *name, uint64_t threads,
                    uint64_t ios)
{
    const struct dft_fio_section *section = job->section;
    uint64_t delay = section->lanes->start_ns - fio->sections.start_ns;

    fprintf(fio->out, "[%s]\n", name);
    put_way(fio, job);
    put_sizes(job, fio->out);
    put_files(fio, job, number);
    put_amount(job, threads, ios, fio->out);
    if (is_one_process(section))
        fputs("# the threads are of one process\nthread=1\n", fio->out);
    put_syncs(fio, job);
    put_pauses(job, fio->out);
    if (delay >= DELAY_MIN_NS)
        fprintf(fio->out, "# begins after the first I/O of all\nstartdelay=%" PRIu64 "ms\n", delay / 1000000);
    fputc('\n', fio->out);
}

/* --- sections --------------------------------------------------------------------------------- */

static void put_head(struct fio *fio, const struct dft_fio_job *job)
{
    const struct dft_fio_section *section = job->section;
    const struct dft_model_unit *unit = section->lanes->units[0] ? section->lanes->units[0] : section->lanes->units[1];

    fprintf(fio->out, "# %zu thread%s of ", section->count, section->count > 1 ? "s" : "");
    dft_model_comment(fio->out, dft_model_who(unit->process));
    for (unsigned dir = 0; dir < 2; dir++)
        if (job->flows[dir].ios)
            fprintf(fio->out, "%s %" PRIu64 " %s%s of %" PRIu64 " bytes", dir && job->flows[0].ios ? "," : ":",
                    job->flows[dir].ios, directions[dir], job->flows[dir].ios > 1 ? "s" : "", job->flows[dir].bytes);
    fputc('\n', fio->out);
}

/* As many I/Os as recorded: where they do not divide by the threads, some of these make one more. */
static void put_jobs(struct fio *fio, const struct dft_fio_job *job, unsigned number)
{
    uint64_t ios = job->flows[0].ios + job->flows[1].ios, threads = job->section->count, more;
    char name[64], kind[24] = "";

    threads = threads > ios ? ios : threads;
    more = ios / threads < 100 ? ios % threads : 0; /* of many I/Os one more or less makes no difference */
    if (job->size != DFT_FIO_ALL)
        snprintf(kind, sizeof kind, "-%" PRIu64, job->largest);
    snprintf(name, sizeof name, "%02u-%s-%s%s", number,
             job->flows[0].ios && job->flows[1].ios ? "mix" : directions[!job->flows[0].ios],
             job->section->lanes->random >= DFT_FIO_RANDOM ? "random" : "sequential", kind);
    put_head(fio, job);
    if (threads > more)
        put_job(fio, job, number, name, threads - more, more ? ios / threads : (ios + threads / 2) / threads);
    if (!more)
        return;
    fprintf(fio->out, "# the same with one I/O more\n");
    strcat(name, "-more");
    put_job(fio, job, number, name, more, ios / threads + 1);
}

static void put_direction(struct fio *fio, const struct dft_fio_section *section, unsigned dir, unsigned number)
{
    struct dft_fio_job job;
    int fits = dft_fio_job_make(&job, section, 1u << dir, DFT_FIO_ALL);

    if (!job.flows[dir].ios)
        return;
    if (fits) {
        put_jobs(fio, &job, number);
        return;
    }
    fprintf(fio->out, "# so few I/Os of different sizes are a job for each size, all at the same time\n");
    for (unsigned size = 0; size < DFT_SIZE_CLASSES; size++) {
        if (!dft_fio_job_make(&job, section, 1u << dir, size))
            dft_fio_job_flatten(&job);
        if (job.flows[dir].ios)
            put_jobs(fio, &job, number);
    }
}

static void put_section(struct fio *fio, const struct dft_fio_section *section, unsigned number)
{
    struct dft_fio_job job;

    if (section->ios[0] && section->ios[1] && dft_fio_job_make(&job, section, 3, DFT_FIO_ALL)) {
        put_jobs(fio, &job, number);
        return;
    }
    if (section->ios[0] && section->ios[1])
        fputs("# reads and writes take turns; these are so few that each is a job of its own\n", fio->out);
    for (unsigned dir = 0; dir < 2; dir++)
        put_direction(fio, section, dir, number);
}

static void put_lacks(struct fio *fio)
{
    struct dft_model *model = &fio->model;
    uint64_t opposite = 0;

    fputs("# Not taken over:\n", fio->out);
    for (size_t i = 0; i < fio->sections.count; i++)
        opposite += fio->sections.list[i].ios[1] ? fio->sections.list[i].opposite : 0;
    dft_model_lacks(model);
    dft_model_lack_flags(model, 1);
    if (fio->misaligned)
        dft_model_lack(model, "O_DIRECT in %" PRIu64 " jobs, whose sizes are not multiples of %u", fio->misaligned,
                       SECTOR);
    if (fio->few_syncs)
        dft_model_lack(model, "calls of fsync that only some threads of a job made: %" PRIu64, fio->few_syncs);
    if (fio->part_shared)
        dft_model_lack(model, "files that some threads of a job share, and others not; jobs: %" PRIu64,
                       fio->part_shared);
    if (fio->fewer_files)
        dft_model_lack(model, "files, instead of which others are larger: %" PRIu64, fio->fewer_files);
    if (opposite)
        dft_model_lack(model,
                       "files that one job writes and another one reads, which are different files here: %" PRIu64,
                       opposite);
    dft_model_lack(model, "names of files, their content, the order in which they are used, and who waits for whom");
    if (fio->sections.nlanes > 1)
        dft_model_lack(model, "the order of I/O between jobs, but for the time at which each begins");
}

static void put_all(struct fio *fio)
{
    uint64_t ios[2] = {0, 0}, bytes[2] = {0, 0};

    for (size_t i = 0; i < fio->sections.count; i++)
        for (unsigned dir = 0; dir < 2; dir++) {
            ios[dir] += fio->sections.list[i].ios[dir];
            bytes[dir] += fio->sections.list[i].bytes[dir];
        }
    fprintf(fio->out,
            "# A job file for fio, made of a trace by dftmerge " DFT_VERSION ". Run it in a directory for its files:\n"
            "#   DIR=/path/to/test fio FILE\n"
            "# Recorded: %" PRIu64 " reads of %" PRIu64 " bytes, %" PRIu64 " writes of %" PRIu64 " bytes, in %" PRIu64
            " ms.\n"
            "# Bytes and I/Os of a run are these within 5 %%; of jobs that mix reads and writes within 10 %% each.\n\n"
            "[global]\ndirectory=${DIR}\n\n",
            ios[0], bytes[0], ios[1], bytes[1], fio->sections.wall_ns / 1000000);
    for (size_t i = 0; i < fio->sections.count; i++)
        put_section(fio, &fio->sections.list[i], (unsigned)i + 1);
    put_lacks(fio);
}

static int write_fio(struct dft_export *export)
{
    struct fio fio = {.out = export->out};
    int rc = dft_model_collect(&fio.model, export);

    if (!rc && !dft_comm_rank()) {
        rc = fio.model.nunits ? dft_fio_sections_make(&fio.sections, &fio.model) : dft_model_say_nothing("fio", "I/O");
        if (!rc)
            put_all(&fio);
        dft_fio_sections_fini(&fio.sections);
    }
    dft_model_fini(&fio.model);
    return rc;
}

const struct dft_exporter dft_export_fio = {"fio", "a job file for fio that does the like", "trace.fio",
                                            .write = write_fio, .takes_rows = 1};
