/* SPDX-License-Identifier: MIT */
/* dftmerge ranks: the answer from traces as JSON, everything. Times are Unix ns on the aligned
 * clock, unless they say otherwise. */
#include "ranks/ranks_json.h"

#include <errno.h>
#include <stdlib.h>

#include "base/write_json.h"
#include "object/source_notes.h"
#include "base/names.h"
#include "ranks/ranks_blamed.h"
#include "ranks/ranks_confidence.h"
#include "ranks/ranks_died.h"
#include "ranks/ranks_first.h"
#include "ranks/ranks_regions.h"
#include "ranks/ranks_sampled.h"

static void put_rank(struct dft_json *json, const struct dft_ranks_job *job, uint32_t rank)
{
    uint32_t count;
    const struct dft_process *process = &dft_source_processes(job->source, &count)[job->ranks[rank].process].process;

    dft_json_known_int(json, "rank", job->by_rank, job->ranks[rank].rank);
    dft_json_text(json, "host", process->host.bytes ? process->host.bytes : "", process->host.length);
    dft_json_uint(json, "pid", process->pid);
}

static void put_call(struct dft_json *json, const struct dft_ranks_job *job, uint64_t call)
{
    struct dft_text category, name;
    char text[18];

    dft_names_call(dft_source_names_table(job->source), call, &category, &name, text);
    dft_json_text(json, "cat", category.bytes ? category.bytes : "", category.length);
    dft_json_text(json, "name", name.bytes, name.length);
}

static void put_lag(struct dft_json *json, const struct dft_ranks_job *job, const struct dft_lag *lag)
{
    dft_json_bool(json, "lags", lag->lags);
    if (!lag->lags || lag->from == DFT_NO_BUCKET) {
        dft_json_null(json, "since_ns");
        dft_json_null(json, "until_ns");
        return;
    }
    dft_json_uint(json, "since_ns", job->origin_ns + lag->from * job->bucket_ns);
    dft_json_known_uint(json, "until_ns", lag->to < job->nbuckets, job->origin_ns + lag->to * job->bucket_ns);
}

static int put_clocks(struct dft_json *json, const struct dft_ranks_job *job)
{
    static const char *const kinds[] = {[DFT_CLOCKS_NONE] = "none",
                                        [DFT_CLOCKS_ANCHORS] = "clocks",
                                        [DFT_CLOCKS_EVENT] = "event",
                                        [DFT_CLOCKS_FIRST] = "first"};
    char *text = dft_clocks_text(&job->clocks);

    if (!text)
        return -ENOMEM;
    dft_json_object(json, "aligned");
    dft_json_string(json, "by", kinds[job->clocks.kind]);
    dft_json_string(json, "event", job->clocks.event);
    dft_json_string(json, "text", text);
    dft_json_uint(json, "processes_without", job->clocks.without);
    dft_json_array(json, "clocks");
    for (uint32_t h = 0; h < job->clocks.nhosts; h++) {
        const struct dft_clock_of_host *host = &job->clocks.hosts[h];

        dft_json_object(json, NULL);
        dft_json_text(json, "host", host->host.bytes ? host->host.bytes : "", host->host.length);
        dft_json_uint(json, "processes", host->processes);
        dft_json_uint(json, "points", host->points);
        dft_json_double(json, "drift_ppm", host->drift * 1e6);
        dft_json_double(json, "residual_rms_ns", host->residual_rms);
        dft_json_int(json, "residual_max_ns", host->residual_max_ns);
        dft_json_int(json, "shift_low_ns", host->shift_low_ns);
        dft_json_int(json, "shift_high_ns", host->shift_high_ns);
        dft_json_end_object(json);
    }
    dft_json_end_array(json);
    dft_json_end_object(json);
    free(text);
    return 0;
}

static void put_ranks(struct dft_json *json, const struct dft_ranks_job *job)
{
    dft_json_array(json, "ranks");
    for (uint32_t r = 0; r < job->nranks; r++) {
        const struct dft_rank *rank = &job->ranks[r];

        dft_json_object(json, NULL);
        put_rank(json, job, r);
        dft_json_uint(json, "processes", rank->processes);
        dft_json_uint(json, "start_ns", rank->start_ns);
        dft_json_known_uint(json, "first_event_ns", rank->first_event_ns <= rank->last_event_ns, rank->first_event_ns);
        dft_json_uint(json, "end_ns", rank->end_ns);
        dft_json_uint(json, "io_ns", rank->io_ns);
        dft_json_uint(json, "read_ns", rank->read_ns);
        dft_json_uint(json, "write_ns", rank->write_ns);
        dft_json_uint(json, "metadata_ns", rank->meta_ns);
        dft_json_uint(json, "bytes", rank->bytes);
        dft_json_uint(json, "errors", rank->errors);
        dft_json_end_object(json);
    }
    dft_json_end_array(json);
}

static void put_slow(struct dft_json *json, const struct dft_ranks_job *job)
{
    dft_json_uint(json, "median_io_ns", job->median_io_ns);
    dft_json_array(json, "slow_ranks");
    for (uint32_t i = 0; i < job->nslow; i++) {
        const struct dft_rank *rank = &job->ranks[job->slow[i]];

        dft_json_object(json, NULL);
        put_rank(json, job, job->slow[i]);
        dft_json_uint(json, "io_ns", rank->io_ns);
        if (job->median_io_ns)
            dft_json_double(json, "times_median", (double)rank->io_ns / (double)job->median_io_ns);
        else
            dft_json_null(json, "times_median");
        put_lag(json, job, &rank->lag);
        dft_json_end_object(json);
    }
    dft_json_end_array(json);
    dft_json_array(json, "stragglers");
    for (uint32_t i = 0; i < job->nstragglers; i++) {
        dft_json_object(json, NULL);
        put_rank(json, job, job->stragglers[i]);
        dft_json_uint(json, "behind_median_ns", job->ranks[job->stragglers[i]].end_ns - job->median_end_ns);
        dft_json_end_object(json);
    }
    dft_json_end_array(json);
}

static void put_imbalance(struct dft_json *json, const struct dft_ranks_job *job)
{
    dft_json_array(json, "imbalance");
    for (uint32_t c = 0; c < job->ncalls; c++) {
        const struct dft_job_call *call = &job->calls[c];
        double mean = (double)call->ns / job->nranks;

        dft_json_object(json, NULL);
        put_call(json, job, call->call);
        dft_json_uint(json, "ranks", call->ranks);
        dft_json_uint(json, "count", call->count);
        dft_json_uint(json, "time_ns", call->ns);
        dft_json_double(json, "mean_ns", mean);
        dft_json_uint(json, "max_ns", call->slowest_ns[0]);
        if (mean > 0)
            dft_json_double(json, "max_over_mean", (double)call->slowest_ns[0] / mean);
        else
            dft_json_null(json, "max_over_mean");
        dft_json_array(json, "slowest");
        for (uint32_t s = 0; s < call->nslowest; s++) {
            dft_json_object(json, NULL);
            put_rank(json, job, call->slowest[s]);
            dft_json_uint(json, "time_ns", call->slowest_ns[s]);
            put_lag(json, job, &call->lags[s]);
            dft_json_end_object(json);
        }
        dft_json_end_array(json);
        dft_json_end_object(json);
    }
    dft_json_end_array(json);
}

/* `reason`: of its confidence; NULL: there is none. */
static void put_suspect(struct dft_json *json, const struct dft_ranks_job *job, const struct dft_suspect *suspect,
                        const char *reason)
{
    uint64_t region = dft_ranks_region(job, suspect);
    uint32_t process = job->ranks[suspect->rank].process;
    uint64_t aligned = (uint64_t)suspect->aligned_ns;

    dft_json_object(json, NULL);
    put_rank(json, job, suspect->rank);
    /* On the process's own clock, as near as the inverse of a line that is nearly level needs to
     * be. */
    dft_json_uint(json, "first_spike_timestamp_ns",
                  aligned - (uint64_t)dft_clocks_shift(&job->clocks, process, aligned));
    dft_json_uint(json, "aligned_first_spike_timestamp_ns", aligned);
    dft_json_int(json, "peak_delta", suspect->delta);
    dft_json_uint(json, "spike_window_samples", suspect->samples);
    dft_json_int(json, "lead_over_cluster_onset_ns", suspect->lead_ns);
    dft_json_string(json, "confidence", dft_confidence_name(suspect->confidence));
    if (reason)
        dft_json_string(json, "confidence_reason", reason);
    if (region) {
        dft_json_object(json, "region");
        put_call(json, job, region);
        dft_json_end_object(json);
    } else {
        dft_json_null(json, "region");
    }
    dft_json_end_object(json);
}

static void put_time(struct dft_json *json, const struct dft_ranks_job *job, uint32_t from, uint64_t until)
{
    dft_json_uint(json, "since_ns", job->origin_ns + from * job->bucket_ns);
    dft_json_known_uint(json, "until_ns", until != 0, until);
}

static void put_blamed(struct dft_json *json, const struct dft_ranks_job *job, const struct dft_measured *measured)
{
    dft_json_array(json, "blamed");
    for (uint32_t i = 0; i < measured->nblamed; i++) {
        const struct dft_blamed *blamed = &measured->blamed[i];

        dft_json_object(json, NULL);
        put_rank(json, job, blamed->rank);
        put_time(json, job, blamed->from, dft_ranks_until(job, blamed));
        dft_json_uint(json, "lost", blamed->lost);
        dft_json_double(json, "times", blamed->times);
        dft_json_end_object(json);
    }
    dft_json_end_array(json);
    if (!measured->all.to) {
        dft_json_null(json, "all_slow");
        return;
    }
    dft_json_object(json, "all_slow");
    put_time(json, job, measured->all.from, measured->all.until_ns);
    dft_json_uint(json, "least_lost_ns", measured->all.least);
    dft_json_uint(json, "most_lost_ns", measured->all.most);
    dft_json_end_object(json);
}

static void put_measured(struct dft_json *json, const struct dft_ranks_job *job, enum dft_ranks_measure measure)
{
    const struct dft_measured *measured = &job->measured[measure];

    dft_json_object(json, dft_ranks_measure_name(measure));
    dft_json_string(json, "unit", measure == DFT_RANKS_BYTES ? "bytes" : "ns");
    dft_json_double(json, "beyond", measured->beyond);
    dft_json_int(json, "floor", measured->floor);
    dft_json_uint(json, "candidates", measured->cause.candidates);
    dft_json_known_int(json, "cluster_onset_timestamp_ns", measured->cause.has_onset, measured->cause.onset_ns);
    dft_json_bool(json, "over_before_onset", measured->over_before);
    dft_json_array(json, "first_cause_suspects");
    for (uint32_t i = 0; i < measured->cause.nsuspects; i++)
        put_suspect(json, job, &measured->cause.suspects[i],
                    i < dft_ranks_together(&measured->cause) ? measured->reason : "another one was first");
    dft_json_end_array(json);
    put_blamed(json, job, measured);
    if (measured->call) {
        dft_json_object(json, "where");
        put_call(json, job, measured->call);
        dft_json_double(json, "times_usual", measured->times);
        dft_json_uint(json, "calls", measured->calls);
        dft_json_uint(json, "time_ns", measured->call_ns);
        dft_json_uint(json, "usual_ns", measured->usual_ns);
        dft_json_string(json, "directory", measured->directory);
        dft_json_double(json, "share", measured->share);
        dft_json_uint(json, "lost", measured->lost);
        dft_json_end_object(json);
    } else {
        dft_json_null(json, "where");
    }
    dft_json_end_object(json);
}

static void put_sampled(struct dft_json *json, const struct dft_ranks_job *job, enum dft_ranks_sampled_measure measure)
{
    const struct dft_ranks_sampled *sampled = &job->sampled[measure];

    dft_json_object(json, dft_ranks_sampled_name(measure));
    dft_json_bool(json, "measured", sampled->nranks != 0);
    dft_json_string(json, "why", sampled->nranks ? NULL : "the traces hold no samples of it");
    dft_json_string(json, "unit", measure == DFT_SAMPLED_CPU ? "thousandths" : "bytes");
    dft_json_int(json, "floor", sampled->floor);
    dft_json_uint(json, "ranks", sampled->nranks);
    dft_json_uint(json, "candidates", sampled->cause.candidates);
    dft_json_known_int(json, "cluster_onset_timestamp_ns", sampled->cause.has_onset, sampled->cause.onset_ns);
    dft_json_array(json, "first_cause_suspects");
    for (uint32_t i = 0; i < sampled->cause.nsuspects; i++)
        put_suspect(json, job, &sampled->cause.suspects[i], NULL);
    dft_json_end_array(json);
    dft_json_end_object(json);
}

static void put_first_cause(struct dft_json *json, const struct dft_ranks_job *job)
{
    dft_json_object(json, "first_cause");
    for (int m = 0; m < DFT_SAMPLED; m++)
        put_sampled(json, job, (enum dft_ranks_sampled_measure)m);
    for (int m = 0; m < DFT_RANKS_MEASURES; m++)
        put_measured(json, job, (enum dft_ranks_measure)m);
    dft_json_end_object(json);
    dft_json_string(json, "first",
                    job->headline < 0 ? NULL : dft_ranks_measure_name((enum dft_ranks_measure)job->headline));
}

int dft_ranks_json(const struct dft_ranks_job *job)
{
    struct dft_json json;
    char *const *notes, *given = dft_filter_text(dft_filter_options(job->filter));
    size_t count;
    int rc;

    dft_json_init(&json, stdout, 1);
    dft_json_object(&json, NULL);
    rc = given ? put_clocks(&json, job) : -ENOMEM;
    if (rc) {
        free(given);
        return rc;
    }
    dft_json_string(&json, "asked", *given ? given + 1 : NULL);
    free(given);
    dft_json_string(&json, "source", job->from_rows ? "buckets" : "events");
    dft_json_uint(&json, "bucket_ns", job->bucket_ns);
    dft_json_uint(&json, "origin_ns", job->origin_ns);
    dft_json_uint(&json, "wall_ns", job->wall_ns);
    dft_json_bool(&json, "by_rank", job->by_rank);
    dft_json_string(&json, "job", job->job);
    dft_json_uint(&json, "processes_of_other_jobs", job->others);
    dft_json_uint(&json, "world_size", job->world_size);
    dft_json_uint(&json, "participating", job->nranks);
    dft_json_uint(&json, "without_rank", job->unranked);
    dft_json_array(&json, "missing_ranks");
    for (uint32_t i = 0; i < job->nmissing; i++)
        dft_json_uint(&json, NULL, job->missing[i]);
    dft_json_end_array(&json);
    dft_ranks_json_died(&json, job);
    put_first_cause(&json, job);
    put_slow(&json, job);
    put_imbalance(&json, job);
    put_ranks(&json, job);
    notes = dft_source_notes(job->source, &count);
    dft_json_strings(&json, "notes", notes, count);
    dft_json_end_object(&json);
    putchar('\n');
    return 0;
}
