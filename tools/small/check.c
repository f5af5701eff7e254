/* SPDX-License-Identifier: MIT */
/* `dftmerge check`: is every block of every input whole, and is anything left in live files?
 *
 * Opening the source verifies the checksums; here every block is decoded as well, and what
 * processes say they wrote is compared with what is there. With --recover, damaged traces are
 * written anew without what is damaged, and what is left in the live files of dead processes moves
 * into their traces. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/comm.h"
#include "small/check.h"
#include "command/command.h"
#include "format/decode.h"
#include "format/end.h"
#include "format/event.h"
#include "format/live_format.h"
#include "query/group_keys.h"
#include "live/recover.h"
#include "small/repair.h"
#include "judge/source_ending.h"
#include "object/source_notes.h"
#include "intake/source_visit.h"
#include "dftracer/pfw.h"

/* --- blocks ----------------------------------------------------------------------------------- */

static int all_known(void *context, const struct dft_source_process *process, const struct dft_block *block)
{
    (void)context;
    (void)process;
    return block->state != DFT_BLOCK_UNKNOWN; /* repeated ones are verified too */
}

static int any_counts(const struct dft_batch *batch)
{
    for (uint32_t i = 0; i < batch->count; i++)
        if (batch->events[i].call < batch->ncalls &&
            dft_event_counts(&batch->events[i], batch->calls[batch->events[i].call].op))
            return 1;
    return 0;
}

static int decode(struct dft_decoder *decoder, const struct dft_block_header *header, const void *payload,
                  const char **reason, uint8_t *counts)
{
    struct dft_batch batch;
    int error;
    struct dft_buckets buckets;
    struct dft_counters counters;
    struct dft_process process;
    struct dft_end end;
    const uint64_t(*samples)[2];
    const struct dft_name *names;
    uint32_t count;

    switch (header->type) {
    case DFT_BLOCK_EVENTS:
        error = dft_decode_events(decoder, header, payload, &batch, reason);
        *counts = !error && any_counts(&batch);
        return error;
    case DFT_BLOCK_BUCKETS:
        return dft_decode_buckets(decoder, header, payload, &buckets, reason);
    case DFT_BLOCK_PROCESS:
        return dft_decode_process(decoder, header, payload, &process, reason);
    case DFT_BLOCK_CLOCK:
        return dft_decode_clock(decoder, header, payload, &samples, &count, reason);
    case DFT_BLOCK_END:
        return dft_decode_end(decoder, header, payload, &end, reason);
    case DFT_BLOCK_COUNTERS:
        return dft_decode_counters(decoder, header, payload, &counters, reason);
    case DFT_BLOCK_NAMES:
        return dft_decode_names(decoder, header, payload, &names, &count, reason);
    default:
        return 0;
    }
}

static int verify(void *context, unsigned worker, const struct dft_source_process *process,
                  const struct dft_block *block, const struct dft_block_header *header, const void *payload)
{
    struct dft_verification *check = context;
    const char *reason = "";
    uint32_t nfiles;
    size_t count, number = (size_t)(block - dft_source_blocks(check->source, &count));
    int error;

    (void)process;
    if (!check->decoders[worker])
        check->decoders[worker] = dft_decoder_create();
    if (!check->decoders[worker])
        return -ENOMEM;
    error = decode(check->decoders[worker], header, payload, &reason, &check->counts[number]);
    if (error != -EBADMSG)
        return error;
    atomic_fetch_add(&check->undecodable, 1);
    check->bad[number] = 1;
    dft_source_note(check->source, 1, "%s: block at %llu: %s",
                    dft_source_files(check->source, &nfiles)[block->file].path, (unsigned long long)block->offset,
                    reason);
    return 0;
}

static int verify_blocks(struct dft_verification *check)
{
    unsigned threads = dft_source_threads(check->source);
    uint64_t undecodable;
    size_t count;
    int error;

    dft_source_blocks(check->source, &count);
    check->decoders = calloc(threads, sizeof(*check->decoders));
    check->bad = calloc(count + 1, 1);
    check->counts = calloc(count + 1, 1);
    if (!check->decoders || !check->bad || !check->counts) {
        free(check->decoders);
        return -ENOMEM;
    }
    error = dft_source_visit(
        check->source,
        &(struct dft_visit){.context = check, .select = all_known, .raw = verify, .progress = "blocks verified"});
    for (unsigned i = 0; i < threads; i++)
        if (check->decoders[i])
            dft_decoder_destroy(check->decoders[i]);
    free(check->decoders);
    undecodable = check->undecodable;
    dft_comm_sum(&undecodable, 1);
    check->undecodable = undecodable;
    return error;
}

static void count_blocks(struct dft_verification *check)
{
    size_t count;
    uint32_t nfiles;
    const struct dft_block *blocks = dft_source_blocks(check->source, &count);
    const struct dft_source_file *files = dft_source_files(check->source, &nfiles);

    for (size_t i = 0; i < count; i++) {
        check->blocks += files[blocks[i].file].kind != DFT_FILE_LIVE;
        check->repeated += blocks[i].state == DFT_BLOCK_IDENTICAL || blocks[i].state == DFT_BLOCK_COVERED;
        check->overlapping += blocks[i].state == DFT_BLOCK_OVERLAPS;
        check->unknown += blocks[i].state == DFT_BLOCK_UNKNOWN;
    }
    for (uint32_t i = 0; i < nfiles; i++) {
        const struct dft_pfw_counts *counts = files[i].counts;

        check->damaged += files[i].skipped.damaged;
        check->unfinished += files[i].skipped.unfinished;
        check->unreadable_bytes += files[i].skipped.bytes;
        check->bad_files += files[i].error != 0 || files[i].reason || files[i].skipped.damaged ||
                            files[i].skipped.bytes || (counts && (counts->invalid || counts->reason));
        check->imported += files[i].kind == DFT_FILE_IMPORTED;
        check->records += counts ? counts->records : 0;
        check->invalid_lines += counts ? counts->invalid : 0;
        check->repeated_lines += counts ? counts->repeated : 0;
    }
}

/* --- processes -------------------------------------------------------------------------------- */

/* A missing or cut file is not visible in the blocks that are left. (What END says was written, and
 * is not there, is noted with every source.) */
static void compare_ends(struct dft_verification *check)
{
    uint32_t count, nfiles;
    const struct dft_source_process *processes = dft_source_processes(check->source, &count);
    const struct dft_source_file *files = dft_source_files(check->source, &nfiles);

    for (uint32_t i = 0; i < count; i++) {
        const struct dft_source_process *p = &processes[i];
        const char *path = files[p->file].path;

        check->missing += dft_source_missing(p);
        if (p->known && !p->ended && !p->live_file) {
            check->endless++;
            dft_source_note(check->source, 1,
                            "%s: process %u has no end and no live file: what it had not written is missing (killed "
                            "elsewhere, the file was cut or copied, or it is still running)",
                            path, p->process.pid);
        }
        if (dft_source_was_rewritten(p))
            dft_source_note(check->source, DFT_BAD_GONE,
                            "%s: was removed while process %u ran, which wrote it again whole", path, p->process.pid);
        for (unsigned reason = 0; reason <= DFT_DROP_LAST; reason++)
            if (p->end.dropped[reason])
                dft_source_note(check->source, DFT_BAD_OTHER, "%s: process %u: %llu events lost: %s", path,
                                p->process.pid, (unsigned long long)p->end.dropped[reason],
                                dft_drop_text((enum dft_drop)reason));
    }
}

/* Blocks of processes that no PROCESS or live file tells of: noted once for each file that begins
 * with them. */
static void find_nameless(struct dft_verification *check)
{
    size_t count;
    uint32_t nprocesses, nfiles;
    const struct dft_block *blocks = dft_source_blocks(check->source, &count);
    const struct dft_source_process *processes = dft_source_processes(check->source, &nprocesses);
    const struct dft_source_file *files = dft_source_files(check->source, &nfiles);
    uint32_t last = UINT32_MAX;

    for (size_t i = 0; i < count; i++) {
        const struct dft_source_process *p = &processes[blocks[i].process];

        if (p->known || p->live_file || files[blocks[i].file].kind != DFT_FILE_TRACE || blocks[i].file == last)
            continue;
        last = blocks[i].file;
        dft_source_note(check->source, 1, "%s: block at %llu: its process (key %llx) has no PROCESS block",
                        files[last].path, (unsigned long long)blocks[i].offset, (unsigned long long)p->key);
    }
}

/* --- recovery --------------------------------------------------------------------------------- */

/* Before live files are moved into their traces: what is appended to a damaged one would be written
 * anew without it. */
static void repair_files(struct dft_verification *check, int force)
{
    size_t count;
    uint32_t nfiles;
    const struct dft_block *blocks = dft_source_blocks(check->source, &count);
    const struct dft_source_file *files = dft_source_files(check->source, &nfiles);

    for (uint32_t i = 0, at = 0; i < nfiles; i++) {
        int damaged = files[i].skipped.damaged || files[i].skipped.bytes;

        for (; at < count && blocks[at].file == i; at++)
            damaged |= check->bad[at];
        if (damaged && files[i].kind == DFT_FILE_TRACE && files[i].blocks)
            check->repaired_files += dft_repair(check->source, i, check->bad, force) == 0;
    }
}

/* Notes what is unseen of a process that may still run. */
static void note_unseen(struct dft_verification *check, const char *live, const struct dft_process *process,
                        int recover)
{
    struct dft_text host = process->host;

    check->live_unknown++;
    dft_source_note(
        check->source, 1,
        "%s: process %u may still run, or may have been killed%s; ask where it can be seen (on %.*s, in its PID "
        "namespace), or use `--recover --force` if it has ended",
        live, process->pid, recover ? ": not moved into its trace" : "",
        host.length ? (int)host.length : (int)strlen("its machine"), host.length ? host.bytes : "its machine");
}

/* A live file of a process that is gone, and was not left as finished, is something to recover. */
static void check_live_files(struct dft_verification *check, int recover, int force)
{
    uint32_t count, nfiles;
    const struct dft_source_process *processes = dft_source_processes(check->source, &count);
    const struct dft_source_file *files = dft_source_files(check->source, &nfiles);

    for (uint32_t i = 0; i < count; i++) {
        const struct dft_source_file *live = processes[i].live_file ? &files[processes[i].live_file - 1] : NULL;

        if (!live)
            continue;
        if (processes[i].exit_kind == DFT_ENDING_RUNNING) {
            check->live_running++;
            dft_source_note(check->source, 0, "%s: process %u is still running", live->path, processes[i].process.pid);
            continue;
        }
        if (processes[i].unseen && !force) {
            note_unseen(check, live->path, &processes[i].process, recover);
            continue;
        }
        /* Behind an END there are open regions or nothing: it was left on purpose. */
        if (live->live_state != DFT_LIVE_CLEAN && !(live->live_state == DFT_LIVE_EXEC && processes[i].ended)) {
            check->live_left++;
            dft_source_note(
                check->source, 1, "%s: left by process %u (%s)%s", live->path, processes[i].process.pid,
                dft_ending_text((enum dft_ending)processes[i].exit_kind),
                recover ? "" : "; its records are read, and `dftmerge check --recover` moves them into the trace");
        }
        if (recover)
            check->recovered_files += dft_recover(check->source, &processes[i]) == 0;
    }
}

static int run(int argc, char **argv)
{
    int recover = 0, force = 0;
    const struct dft_option own[] = {
        {.name = "recover",
         .flag = &recover,
         .help = "Live files of dead processes into their traces; damaged traces anew"},
        {.name = "force", .flag = &force, .help = "With --recover: processes that cannot be seen from here have ended"},
        {0}};
    struct dft_options options;
    struct dft_verification check = {0};
    int code;

    if (dft_options_parse(&options, &dft_command_check, own, argc, argv, &code))
        return code;
    if (recover && !dft_comm_alone("check --recover", options.source.quiet)) {
        dft_options_fini(&options);
        return DFT_EXIT_OK;
    }
    if (dft_command_begin(&options, &check.source, &code))
        return code;
    code = verify_blocks(&check) ? DFT_EXIT_BAD : DFT_EXIT_OK;
    count_blocks(&check);
    compare_ends(&check);
    dft_source_hindrances(check.source, 1);
    find_nameless(&check);
    if (!code && dft_check_whole(check.source, check.counts))
        code = DFT_EXIT_BAD;
    if (recover && check.bad)
        repair_files(&check, force);
    check_live_files(&check, recover, force);
    if (dft_job_collect(&check.job, check.source))
        code = DFT_EXIT_BAD;
    if (options.json)
        dft_check_print_json(&check);
    else
        dft_check_print_text(&check);
    fflush(stdout); /* the verdict comes first, then the notes say why */
    dft_source_report(check.source);
    free(check.bad);
    free(check.counts);
    dft_job_fini(&check.job);
    return dft_command_end(&options, check.source, code);
}

const struct dft_command dft_command_check = {
    .name = "check",
    .arguments = "[--recover] PATH...",
    .brief = "Verify every block; recover what can be read",
    .details =
        "Verifies the checksums of every block, decodes the block, and compares what processes say they wrote with "
        "what is there. What is wrong is named with file and offset. Events that processes say they have lost (a "
        "full disk) are wrong as well. --recover moves what live files of dead processes hold into their traces. "
        "It also writes damaged traces anew, with everything that can be read; a damaged file is kept as "
        "FILE.damaged. Where it cannot be seen whether a process has ended (on another machine, in another PID "
        "namespace), --recover leaves its files alone, unless --force says that it has. The exit code is 1 when "
        "anything was wrong, also when it was recovered.",
    .example = "dftmerge check --recover traces/",
    .takes = DFT_TAKES_JSON | DFT_TAKES_RANKS,
    .run = run,
};
