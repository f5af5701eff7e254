/* SPDX-License-Identifier: MIT */
/* What `dftmerge check` prints: the verdict, then all that it has counted. */
#include <stdio.h>
#include <stdlib.h>

#include "base/write_json.h"
#include "base/write_text.h"
#include "job/job_losses.h"
#include "job/job_state.h"
#include "small/check.h"
#include "object/source_notes.h"

void dft_check_print_json(const struct dft_verification *check)
{
    struct dft_json json;
    size_t nnotes;
    uint32_t nfiles;
    char *const *notes = dft_source_notes(check->source, &nnotes);

    dft_source_files(check->source, &nfiles);
    dft_json_init(&json, stdout, 1);
    dft_json_object(&json, NULL);
    dft_json_bool(&json, "good", dft_source_status(check->source) == 0 && !check->job.rewritten);
    dft_json_uint(&json, "files", nfiles);
    dft_json_uint(&json, "files_bad", check->bad_files);
    dft_json_uint(&json, "blocks", check->blocks);
    dft_json_uint(&json, "blocks_damaged", check->damaged);
    dft_json_uint(&json, "blocks_undecodable", check->undecodable);
    dft_json_uint(&json, "blocks_repeated", check->repeated);
    dft_json_uint(&json, "blocks_overlapping", check->overlapping);
    dft_json_uint(&json, "blocks_unknown", check->unknown);
    dft_json_uint(&json, "unfinished", check->unfinished);
    dft_json_uint(&json, "bytes_unreadable", check->unreadable_bytes);
    dft_json_uint(&json, "dftracer_files", check->imported);
    dft_json_uint(&json, "dftracer_records", check->records);
    dft_json_uint(&json, "dftracer_lines_invalid", check->invalid_lines);
    dft_json_uint(&json, "dftracer_lines_repeated", check->repeated_lines);
    dft_json_uint(&json, "without_end", check->endless);
    dft_json_uint(&json, "events_missing", check->missing);
    dft_job_json_dropped(&json, &check->job);
    dft_json_uint(&json, "arguments_cut", check->job.args_cut);
    dft_json_uint(&json, "nothing_kept_ns", check->job.kept_ns[DFT_KEEP_NOTHING]);
    dft_job_json_pauses(&json, &check->job);
    dft_json_uint(&json, "live_left", check->live_left);
    dft_json_uint(&json, "live_running", check->live_running);
    dft_json_uint(&json, "live_unknown", check->live_unknown);
    dft_json_uint(&json, "recovered", check->recovered_files);
    dft_json_uint(&json, "repaired", check->repaired_files);
    dft_json_strings(&json, "notes", notes, nnotes);
    dft_json_end_object(&json);
    putchar('\n');
}

/* What the processes say that they could not keep, or did not keep on request. */
static void print_losses(const struct dft_verification *check)
{
    const struct dft_job *job = &check->job;
    char *lost = NULL;
    size_t size;
    FILE *out = open_memstream(&lost, &size);

    if (out && dft_job_dropped(out, job) && !fflush(out))
        printf("; lost: %s", lost);
    if (out)
        fclose(out);
    free(lost);
    if (job->args_cut)
        printf("; %llu arguments cut or left out", (unsigned long long)job->args_cut);
}

/* "All good" is said where neither files nor processes tell of anything that is wrong or missing. */
static void print_verdict(const struct dft_verification *check)
{
    if (dft_source_status(check->source) == 0)
        printf(check->job.rewritten ? "every block is whole, but traces of programs that had ended before may be gone"
                                    : "all good");
    else if (!(check->endless | check->damaged | check->undecodable | check->unreadable_bytes | check->live_left |
               check->bad_files))
        printf("every block is whole, but not all is well");
    else
        printf("%llu processes without an end, %llu blocks damaged, %llu undecodable, %llu bytes unreadable, %llu live "
               "files left by dead processes",
               (unsigned long long)check->endless, (unsigned long long)check->damaged,
               (unsigned long long)check->undecodable, (unsigned long long)check->unreadable_bytes,
               (unsigned long long)check->live_left);
}

void dft_check_print_text(const struct dft_verification *check)
{
    uint32_t nfiles;

    dft_source_files(check->source, &nfiles);
    printf("%u files, %llu whole blocks: ", nfiles, (unsigned long long)check->blocks);
    print_verdict(check);
    dft_job_unrecorded(stdout, ", but ", &check->job);
    print_losses(check);
    if (check->missing)
        printf("; %llu events missing", (unsigned long long)check->missing);
    if (check->repeated)
        printf("; %llu repeated", (unsigned long long)check->repeated);
    if (check->unknown)
        printf("; %llu of types that this version does not know", (unsigned long long)check->unknown);
    if (check->unfinished)
        printf("; %llu that their process's end left unfinished", (unsigned long long)check->unfinished);
    if (check->live_unknown)
        printf("; %llu live files of processes that cannot be seen from here", (unsigned long long)check->live_unknown);
    if (check->recovered_files)
        printf("; %llu live files recovered", (unsigned long long)check->recovered_files);
    if (check->repaired_files)
        printf("; %llu damaged traces written anew", (unsigned long long)check->repaired_files);
    if (check->imported)
        printf("; %llu files of DFTracer with %llu records, %llu lines that are none, %llu repeated",
               (unsigned long long)check->imported, (unsigned long long)check->records,
               (unsigned long long)check->invalid_lines, (unsigned long long)check->repeated_lines);
    puts(".");
}
