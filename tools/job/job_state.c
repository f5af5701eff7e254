/* SPDX-License-Identifier: MIT */
/* What a job is doing, or was when it was killed; and for how long it was not recorded. */
#include "job/job_state.h"

#include <errno.h>
#include <stdlib.h>

#include "base/write_json.h"
#include "base/write_text.h"
#include "base/write_wrapped.h"
#include "format/ops.h"
#include "job/job_losses.h"
#include "job/lock_holder.h"
#include "object/source_notes.h"

/* --- pauses ----------------------------------------------------------------------------------- */

uint64_t dft_job_lived_ns(const struct dft_job *job)
{
    uint64_t all = 0;

    for (unsigned keep = 0; keep <= DFT_KEEP_COUNT; keep++)
        all += job->kept_ns[keep];
    return all;
}

static void say_times(FILE *out, uint64_t count, const char *who)
{
    char text[DFT_TEXT_ROOM];

    if (count == 1)
        fprintf(out, "once by %s", who);
    else if (count)
        fprintf(out, "%s times by %s", dft_text_count(text, count), who);
}

/* How long a pause went on behind the last sign of life, nothing tells. */
static void say_endless(FILE *out, const struct dft_job *job)
{
    const char *how = job->killed ? "killed" : "last seen";

    if (job->endless_pauses && job->processes == 1)
        fprintf(out, ", until it was %s; for how long is not known", how);
    else if (job->endless_pauses)
        fprintf(out, ", until %u process%s %s %s; for how long is not known", job->endless_pauses,
                job->endless_pauses == 1 ? "" : "es", job->endless_pauses == 1 ? "was" : "were", how);
}

int dft_job_unrecorded(FILE *out, const char *prefix, const struct dft_job *job)
{
    uint64_t unrecorded_ns = job->kept_ns[DFT_KEEP_NOTHING], lived_ns = dft_job_lived_ns(job);
    char text[DFT_TEXT_ROOM];

    if (!unrecorded_ns && !job->controlled && !job->paused)
        return 0;
    fprintf(out, "%snot recorded: %s%s of the time (paused ", prefix, job->paused_longer ? "at least " : "",
            dft_text_share(text, unrecorded_ns, lived_ns));
    say_times(out, job->controlled, "dftmerge control");
    fputs(job->controlled && job->paused ? ", " : "", out);
    say_times(out, job->paused, "the program");
    say_endless(out, job);
    fputs(")", out);
    return 1;
}

int dft_job_incomplete(char **text, const struct dft_job *job, struct dft_source *source)
{
    size_t length;
    FILE *out = open_memstream(text, &length);
    int paused;

    if (!out)
        return -ENOMEM;
    paused = dft_job_unrecorded(out, "", job);
    if (dft_job_is_lossy(job, source)) {
        fputs(paused ? "; lost: " : "", out);
        dft_job_losses(out, job, source);
    }
    if (!fclose(out))
        return 0;
    free(*text);
    *text = NULL;
    return -ENOMEM;
}

char *dft_job_unrecorded_text(const char *prefix, const struct dft_job *job)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    int said;

    if (!out)
        return NULL;
    said = dft_job_unrecorded(out, prefix, job);
    if (!fclose(out) && said)
        return text;
    free(text);
    return NULL;
}

void dft_job_json_pauses(struct dft_json *json, const struct dft_job *job)
{
    dft_json_object(json, "pauses");
    dft_json_uint(json, "control", job->controlled);
    dft_json_uint(json, "program", job->paused);
    dft_json_end_object(json);
}

/* --- calls in flight -------------------------------------------------------------------------- */

static const struct dft_source_process *process_of(const struct dft_flight *flight, const struct dft_source *source)
{
    uint32_t count;

    return &dft_source_processes(source, &count)[flight->process];
}

uint64_t dft_job_flown_ns(const struct dft_flight *flight, const struct dft_source *source)
{
    uint64_t start, end;

    dft_process_lifetime(process_of(flight, source), &start, &end);
    return end > flight->start_ns ? end - flight->start_ns : 0;
}

int dft_job_flies(const struct dft_flight *flight, const struct dft_source *source)
{
    return process_of(flight, source)->exit_kind == DFT_ENDING_RUNNING;
}

/* Is it a call that should not last? A region may, and so may a wait for a child. */
static int is_call(const struct dft_flight *flight)
{
    return flight->op != DFT_OP_REGION && flight->op != DFT_OP_WAIT && flight->op != DFT_OP_SPAWN &&
           flight->op != DFT_OP_FORK;
}

void dft_job_filter_flights(struct dft_job *job, const struct dft_source *source, const struct dft_filter *filter)
{
    int is_of_calls = (dft_filter_options(filter) & DFT_FILTER_OF_CALLS) != 0;
    size_t n = 0;

    for (size_t i = 0; i < job->flights.count && !is_of_calls; i++) {
        const struct dft_flight flight = job->flights.list[i];
        const struct dft_source_process *process = process_of(&flight, source);
        uint64_t end_ns = flight.start_ns + dft_job_flown_ns(&flight, source);

        if (dft_filter_process(filter, process) && dft_filter_file(filter, flight.file) &&
            flight.start_ns < filter->to_ns && end_ns >= filter->from_ns)
            job->flights.list[n++] = flight;
    }
    job->flights.count = n;
}

struct dft_job_flying dft_job_flying(const struct dft_job *job, const struct dft_source *source, int running)
{
    struct dft_job_flying flying = {0};
    uint64_t longest_ns = 0;

    for (size_t i = 0; i < job->flights.count; i++) {
        const struct dft_flight *flight = &job->flights.list[i];
        uint64_t ns = dft_job_flown_ns(flight, source);

        if (!is_call(flight) || dft_job_flies(flight, source) != running)
            continue;
        flying.calls++;
        flying.time_ns += ns;
        if (!flying.longest || ns > longest_ns) {
            flying.longest = flight;
            longest_ns = ns;
        }
    }
    return flying;
}

static void say_flying(FILE *out, const struct dft_job *job, const struct dft_source *source, int running)
{
    const struct dft_job_flying flying = dft_job_flying(job, source, running);
    const struct dft_source_process *process = flying.longest ? process_of(flying.longest, source) : NULL;
    uint64_t since =
        flying.longest && flying.longest->start_ns > job->start_ns ? flying.longest->start_ns - job->start_ns : 0;
    struct dft_locks locks = {0};
    char text[DFT_TEXT_ROOM];

    if (!process)
        return;
    fprintf(out, "in flight %s: ",
            running                                    ? "now"
            : process->exit_kind == DFT_ENDING_KILLED  ? "when it was killed"
            : process->exit_kind == DFT_ENDING_UNKNOWN ? "when it was last seen"
                                                       : "at its end");
    dft_flight_name(out, flying.longest, source);
    if (running)
        fprintf(out, " for %s", dft_text_ns(text, dft_job_flown_ns(flying.longest, source)));
    dft_locks_read(&locks, flying.longest, 1);
    dft_lock_holder_say(out, &locks, flying.longest, source);
    dft_locks_free(&locks);
    fprintf(out, ", since +%s, in process %u", dft_text_ns(text, since), process->process.pid);
    if (flying.calls > 1)
        fprintf(out, ", and %s more (dftmerge ps lists them)", dft_text_count(text, flying.calls - 1));
}

int dft_job_in_flight(FILE *out, const struct dft_job *job, const struct dft_source *source)
{
    int now = dft_job_flying(job, source, 1).calls != 0, before = dft_job_flying(job, source, 0).calls != 0;

    say_flying(out, job, source, 1);
    fputs(now && before ? "; " : "", out);
    say_flying(out, job, source, 0);
    return now || before;
}

int dft_job_note_in_flight(const struct dft_job *job, struct dft_source *source)
{
    char *text = NULL;
    size_t length;
    FILE *out;
    int rc;

    if (!dft_job_flying(job, source, 1).calls)
        return 0;
    out = open_memstream(&text, &length);
    if (!out)
        return -ENOMEM;
    say_flying(out, job, source, 1);
    rc = fclose(out) ? -ENOMEM : 0;
    if (!rc)
        dft_source_note(source, DFT_BAD_NOTHING, "%s", text);
    free(text);
    return rc;
}

void dft_job_note_unrecorded(const struct dft_job *job, struct dft_source *source)
{
    char *text = dft_job_unrecorded_text("", job);

    if (text)
        dft_source_note(source, DFT_BAD_NOTHING, "%s", text);
    free(text);
}

int dft_job_note_state(struct dft_source *source)
{
    struct dft_job job;
    int rc = dft_job_collect(&job, source);

    if (rc)
        return rc;
    dft_job_note_unrecorded(&job, source);
    rc = dft_job_note_in_flight(&job, source);
    dft_job_fini(&job);
    return rc;
}

void dft_job_print_in_flight(const struct dft_job *job, const struct dft_source *source)
{
    struct dft_sentence text;
    FILE *out;

    if (!dft_job_flying(job, source, 1).calls && !dft_job_flying(job, source, 0).calls)
        return;
    out = dft_sentence_begin(&text);
    if (!out)
        return;
    dft_job_in_flight(out, job, source);
    dft_sentence_end(&text, out, "", 0);
}

void dft_job_json_in_flight(struct dft_json *json, const struct dft_job *job, const struct dft_source *source)
{
    dft_json_array(json, "in_flight");
    for (size_t i = 0; i < job->flights.count; i++) {
        const struct dft_flight *flight = &job->flights.list[i];

        if (!is_call(flight))
            continue;
        dft_json_object(json, NULL);
        dft_json_uint(json, "pid", process_of(flight, source)->process.pid);
        dft_flight_json(json, flight, source);
        dft_json_known_uint(json, "for_ns", dft_job_flies(flight, source), dft_job_flown_ns(flight, source));
        dft_json_end_object(json);
    }
    dft_json_end_array(json);
}
