/* SPDX-License-Identifier: MIT */
/* Notes about traces of DFTracer: what could not be read of a file, and what is peculiar to the
 * file. */
#include "intake/imported_notes.h"

#include <inttypes.h>

#include "mpi/comm.h"
#include "object/source_notes.h"
#include "object/source_inside.h"

static void note_damage(struct dft_source *source, const char *path, const struct dft_pfw_counts *counts)
{
    if (counts->reason)
        dft_source_note(source, 1, "%s: %s; %" PRIu64 " records before and behind it are used", path, counts->reason,
                        counts->records);
    if (counts->invalid)
        dft_source_note(source, 1,
                        "%s: %" PRIu64 " line%s no record (the first is line %" PRIu64
                        "): cut in two, or with quotes inside "
                        "of texts%s; the other %" PRIu64 " records are used",
                        path, counts->invalid, counts->invalid == 1 ? " is" : "s are", counts->first_invalid,
                        counts->torn ? "; the last line is torn" : "", counts->records);
    if (counts->untimed)
        dft_source_note(source, 1,
                        "%s: %" PRIu64
                        " records left out, whose time is invalid: below 0, not a number or beyond the year 2116",
                        path, counts->untimed);
    if (counts->long_sizes)
        dft_source_note(source, 1,
                        "%s: %" PRIu64
                        " records claim so much that the sum passes 2^63: their bytes or calls are not counted",
                        path, counts->long_sizes);
    if (counts->long_lines)
        dft_source_note(source, 1, "%s: %" PRIu64 " line%s of more than 16 MiB left out, or a hole of the file", path,
                        counts->long_lines, counts->long_lines == 1 ? "" : "s");
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
    if (counts->long_pids)
        dft_source_note(source, 0,
                        "%s: %" PRIu64 " process%s a pid of more than 32 bits: told apart, but shown by the lowest 32",
                        path, counts->long_pids, counts->long_pids == 1 ? " has" : "es have");
    if (counts->unchecked)
        dft_source_note(source, 0, "%s: %" PRIu64 " lines were not looked at for repetitions: there are too many", path,
                        counts->unchecked);
    if (counts->long_durations)
        dft_source_note(source, 0,
                        "%s: %" PRIu64
                        " durations beyond all bounds (more than ten years, or below 0: a clock that stepped back) "
                        "taken as 0",
                        path, counts->long_durations);
    if (counts->far)
        dft_source_note(source, 0,
                        "%s: %" PRIu64
                        " events start more than ten years away from the first one: some clock was not set, and "
                        "the wall time is that between",
                        path, counts->far);
    atomic_fetch_add(&source->imported_mib, counts->bytes >> 20);
    atomic_fetch_add(&source->imported_ms, counts->time_ns >> 20);
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
    if (counts->unspread) {
        atomic_fetch_add(&source->unspread, counts->unspread);
        atomic_fetch_add(&source->unspread_files, 1);
    }
}

/* Notes once what follows from the nature of the traces, and is the same in all of them. */
void dft_imported_note_all(struct dft_source *source)
{
    uint64_t sums[] = {source->ambiguous,      source->ambiguous_files, source->unspread,
                       source->unspread_files, source->imported_mib,    source->imported_ms};

    dft_comm_sum(sums, sizeof sums / sizeof *sums);
    source->ambiguous = sums[0];
    source->ambiguous_files = sums[1];
    source->unspread = sums[2];
    source->unspread_files = sums[3];
    if (sums[4] >> 44 || sums[5] >> 44) /* each file for itself is within (pfw_time.h) */
        dft_source_note(
            source, 1,
            "the %s of all traces of DFTracer together pass 2^64: sums over them are wrong; look at single ones",
            sums[4] >> 44 ? "bytes" : "times");
    if (source->ambiguous)
        dft_source_note(source, 0,
                        "%" PRIu64 " events in %" PRIu64
                        " files of DFTracer are on files whose hash stands for several names "
                        "there; the last one before each event was taken",
                        source->ambiguous, source->ambiguous_files);
    if (source->unspread)
        dft_source_note(source, 0,
                        "%" PRIu64 " aggregated records in %" PRIu64
                        " files of DFTracer do not say how the times and sizes of their calls are "
                        "spread: percentiles are not known where they count",
                        source->unspread, source->unspread_files);
}

void dft_imported_note(struct dft_source *source, const char *path, const struct dft_pfw_counts *counts)
{
    if (!counts->records && !counts->invalid && !counts->reason && !counts->lines)
        dft_source_note(source, 0, "%s: empty", path);
    else if (!counts->records)
        dft_source_note(source, 1, "%s: not a trace: no record in it%s%s", path, counts->reason ? "; " : "",
                        counts->reason ? counts->reason : "");
    else
        note_damage(source, path, counts);
    note_oddities(source, path, counts);
}
