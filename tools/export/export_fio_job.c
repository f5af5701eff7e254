/* SPDX-License-Identifier: MIT */
/* Sizes and shares of a job of fio; see export_fio_job.h.
 *
 * fio draws sizes and directions by whole percents, so bytes and counts come out about right only
 * where there are many I/Os. Where they are few, the caller makes a job for each size. */
#include "export/export_fio_job.h"

#include <math.h>
#include <string.h>

#define MEANS_EXACT 64u   /* of smaller sizes the mean is drawn from the whole numbers beside it */
#define DEVIATIONS  2.5   /* standard ones: of a hundred draws one goes further */
#define BYTES_OFF   0.035 /* so far these, and what rounding adds, may go; the ends of files add their share */
#define MIX_OFF     0.10
#define MEAN_OFF    0.02
#define BEND_MAX    0.10
#define ENDS_OFF    0.015
#define END_COST    1.5

static void add_entry(struct dft_fio_flow *flow, uint64_t bytes, uint64_t ios)
{
    if (ios)
        flow->entries[flow->count++] = (struct dft_fio_entry){.bytes = bytes ? bytes : 1, .ios = ios};
}

static void add_class(struct dft_fio_flow *flow, const struct dft_model_size *size)
{
    uint64_t mean;

    if (!size->ios)
        return;
    flow->ios += size->ios;
    flow->bytes += size->bytes;
    mean = size->bytes / size->ios;
    if (size->whole) {
        add_entry(flow, size->whole, size->ios);
    } else if (mean && mean < MEANS_EXACT && size->bytes % size->ios) {
        add_entry(flow, mean, size->ios - size->bytes % size->ios);
        add_entry(flow, mean + 1, size->bytes % size->ios);
    } else {
        add_entry(flow, (size->bytes + size->ios / 2) / size->ios, size->ios);
    }
}

/* Sizes so rare that they have no percent are drawn never. */
static void leave_out_rare(struct dft_fio_flow *flow)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < flow->count; i++)
        if (flow->entries[i].percent)
            flow->entries[kept++] = flow->entries[i];
    flow->count = kept;
}

/* Whole percents that add up to 100: those that lose most by rounding down get one more. */
static void share_out(struct dft_fio_flow *flow)
{
    unsigned left = 100;

    for (unsigned i = 0; i < flow->count; i++) {
        flow->entries[i].percent = (unsigned)(flow->entries[i].ios * 100 / flow->ios);
        left -= flow->entries[i].percent;
    }
    while (left--) {
        unsigned best = 0;
        uint64_t most = 0;

        for (unsigned i = 0; i < flow->count; i++) {
            uint64_t rest = flow->entries[i].ios * 100 - flow->entries[i].percent * flow->ios;

            if (flow->entries[i].ios * 100 > flow->entries[i].percent * flow->ios && rest > most) {
                most = rest;
                best = i;
            }
        }
        flow->entries[best].percent++;
    }
    leave_out_rare(flow);
}

/* The mean size that fio draws, and its variance. */
static double mean_of(const struct dft_fio_flow *flow, double *variance)
{
    double mean = 0, squares = 0;

    for (unsigned i = 0; i < flow->count; i++)
        mean += (double)flow->entries[i].bytes * flow->entries[i].percent / 100;
    for (unsigned i = 0; i < flow->count; i++) {
        double off = (double)flow->entries[i].bytes - mean;

        squares += off * off * flow->entries[i].percent / 100;
    }
    *variance = squares;
    return mean;
}

static int is_near(double number, double wanted, double part)
{
    return number <= wanted * (1 + part) && number >= wanted * (1 - part);
}

/* Where whole percents are off, each size becomes what moves its bytes with them. Returns whether
 * no size changes much. */
static int bend(struct dft_fio_flow *flow)
{
    for (unsigned i = 0; i < flow->count; i++) {
        struct dft_fio_entry *entry = &flow->entries[i];
        double bytes = (double)entry->bytes;

        bytes *= (double)entry->ios * 100 / ((double)flow->ios * entry->percent);
        if (!is_near(bytes, (double)entry->bytes, BEND_MAX))
            return 0;
        entry->bytes = bytes < 1 ? 1 : (uint64_t)(bytes + 0.5);
    }
    flow->is_bent = 1;
    return 1;
}

/* How far bytes may be off, as a part of them. One size is not drawn. */
static double part_off(const struct dft_fio_flow *flow)
{
    double variance, mean = mean_of(flow, &variance), wanted = (double)flow->bytes / (double)flow->ios;

    return DEVIATIONS * sqrt(variance / (double)flow->ios) / mean + fabs(mean - wanted) / wanted;
}

static int flow_fits(struct dft_fio_flow *flow)
{
    double variance, wanted = (double)flow->bytes / (double)flow->ios;

    if (!is_near(mean_of(flow, &variance), wanted, MEAN_OFF) &&
        !(bend(flow) && is_near(mean_of(flow, &variance), wanted, MEAN_OFF)))
        return 0;
    flow->off = part_off(flow);
    return flow->off <= BYTES_OFF;
}

/* The fewer ones of a mix: are they as many as recorded? */
static int mix_fits(const struct dft_fio_job *job)
{
    uint64_t all = job->flows[0].ios + job->flows[1].ios;
    unsigned few = job->flows[0].ios > job->flows[1].ios;
    double share = (few ? 100 - job->read_percent : job->read_percent) / 100.0;
    double wanted = (double)job->flows[few].ios / (double)all;

    return share > 0 && DEVIATIONS * sqrt((1 - share) / (share * (double)all)) + fabs(share - wanted) / wanted +
                                fmax(job->flows[0].off, job->flows[1].off) <=
                            MIX_OFF;
}

static void find_largest(struct dft_fio_job *job)
{
    job->largest = 0;
    for (unsigned dir = 0; dir < 2; dir++)
        for (unsigned i = 0; i < job->flows[dir].count; i++)
            if (job->flows[dir].entries[i].bytes > job->largest)
                job->largest = job->flows[dir].entries[i].bytes;
}

/* --- files ------------------------------------------------------------------------------------ */

/* Near the end of a file fio draws until a size fits, so smaller ones come too often there. How many
 * I/Os an end costs, about. */
static double lost_at_end(const struct dft_fio_job *job)
{
    double bytes = 0, ios = 0;

    for (unsigned dir = 0; dir < 2; dir++)
        for (unsigned i = 0; i < job->flows[dir].count; i++) {
            const struct dft_fio_entry *entry = &job->flows[dir].entries[i];

            if (entry->bytes == job->largest)
                continue;
            bytes += (double)entry->bytes * (double)entry->ios;
            ios += (double)entry->ios;
        }
    return bytes > 0 ? END_COST * (double)job->largest * ios / bytes : 0;
}

/* How many files there may be, so that their ends do not matter. */
static uint64_t files_max(const struct dft_fio_job *job, uint64_t all_bytes)
{
    double threads = (double)job->section->count, cost = lost_at_end(job);
    double ios = (double)(job->flows[0].ios + job->flows[1].ios) / threads;
    double passes = (double)(job->flows[0].bytes + job->flows[1].bytes) / threads / (double)all_bytes;
    double most;

    if (job->section->lanes->random >= DFT_FIO_RANDOM)
        most = (double)all_bytes * ENDS_OFF / (double)job->largest;
    else
        most = cost > 0 ? ios * ENDS_OFF / cost / (passes > 1 ? passes : 1) : 1e18;
    return most < 1e18 ? (uint64_t)most : UINT64_MAX;
}

/* Returns whether sizes that are drawn come out right. */
static int place_files(struct dft_fio_job *job)
{
    const struct dft_fio_section *section = job->section;
    uint64_t threads = section->count, files = section->files ? section->files : 1, all, most;

    job->is_shared = threads > 1 && section->used > 1 && section->used * 10 >= files * threads * 9;
    job->files = job->is_shared ? files : (section->used + threads / 2) / threads;
    job->files = job->files ? job->files : 1;
    all = job->is_shared ? section->extent : section->extent / files * job->files;
    most = job->flows[0].count + job->flows[1].count > 1 ? files_max(job, all ? all : 1) : UINT64_MAX;
    most = job->is_shared && most > DFT_FIO_SHARED ? DFT_FIO_SHARED : most;
    job->fewer_files = most && job->files > most ? job->files - most : 0;
    job->files -= job->fewer_files;
    job->file_bytes = all / job->files;
    job->file_bytes =
        (job->file_bytes / job->largest + (job->file_bytes % job->largest || !job->file_bytes)) * job->largest;
    return most > 0;
}

int dft_fio_job_make(struct dft_fio_job *job, const struct dft_fio_section *section, unsigned dirs, unsigned size)
{
    int fits = 1;

    memset(job, 0, sizeof *job);
    job->section = section;
    job->size = size;
    for (unsigned dir = 0; dir < 2; dir++) {
        struct dft_fio_flow *flow = &job->flows[dir];

        for (unsigned class = 0; dirs >> dir & 1 && class < DFT_SIZE_CLASSES; class ++)
            if (size == DFT_FIO_ALL || size == class)
                add_class(flow, &section->sizes[dir][class]);
        if (!flow->ios)
            continue;
        share_out(flow);
        fits &= flow_fits(flow);
    }
    find_largest(job);
    if (job->largest)
        fits &= place_files(job);
    if (!job->flows[0].ios || !job->flows[1].ios)
        return fits;
    job->read_percent = (unsigned)((job->flows[0].ios * 100 + (job->flows[0].ios + job->flows[1].ios) / 2) /
                                   (job->flows[0].ios + job->flows[1].ios));
    return fits && mix_fits(job);
}

void dft_fio_job_flatten(struct dft_fio_job *job)
{
    for (unsigned dir = 0; dir < 2; dir++) {
        struct dft_fio_flow *flow = &job->flows[dir];

        flow->count = 0;
        add_entry(flow, flow->ios ? (flow->bytes + flow->ios / 2) / flow->ios : 0, flow->ios);
        if (flow->ios)
            share_out(flow);
    }
    find_largest(job);
    if (job->largest)
        place_files(job);
}
