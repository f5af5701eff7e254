/* SPDX-License-Identifier: MIT */
/* `dftmerge debug stat`: where the bytes of traces go, by block type and column. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "mpi/comm.h"
#include "command/command.h"
#include "small/shares.h"
#include "base/write_json.h"
#include "base/write_wrapped.h"
#include "object/source_notes.h"
#include "intake/source_visit.h"

/* One table of shares a worker; they are summed up at the end. */
struct work {
    struct dft_source *source;
    struct dft_type_share (*shares)[DFT_SHARE_TYPES];
};

struct totals {
    uint64_t file_bytes, block_bytes, holes, other_bytes, events;
};

static int measure(void *context, unsigned worker, const struct dft_source_process *process,
                   const struct dft_block *block, const struct dft_block_header *header, const void *payload)
{
    struct work *work = context;
    int error = dft_shares_add(work->shares[worker], header, payload);

    (void)process;
    if (error == -EBADMSG) {
        uint32_t nfiles;

        dft_source_note(work->source, 1, "%s: block at %llu: its columns cannot be read",
                        dft_source_files(work->source, &nfiles)[block->file].path, (unsigned long long)block->offset);
        error = 0;
    }
    return error;
}

static int all(void *context, const struct dft_source_process *process, const struct dft_block *block)
{
    (void)context;
    (void)process;
    (void)block;
    return 1; /* repeated and unknown blocks take space too */
}

static void add_shares(struct dft_type_share *into, const struct dft_type_share *from)
{
    into->blocks += from->blocks;
    into->count += from->count;
    into->header_bytes += from->header_bytes;
    into->stored_bytes += from->stored_bytes;
    into->raw_bytes += from->raw_bytes;
    into->tail_bytes += from->tail_bytes;
    into->end_bits += from->end_bits;
    for (unsigned c = 0; c < DFT_SHARE_COLUMNS; c++) {
        into->columns[c].blocks += from->columns[c].blocks;
        into->columns[c].raw_bytes += from->columns[c].raw_bytes;
        into->columns[c].stored_bits += from->columns[c].stored_bits;
    }
}

static void sum_files(const struct dft_source *source, const struct dft_type_share *types, struct totals *totals)
{
    uint32_t count;
    const struct dft_source_file *files = dft_source_files(source, &count);

    *totals = (struct totals){.events = types[DFT_BLOCK_EVENTS].count};
    for (uint32_t i = 0; i < count; i++) {
        totals->file_bytes += files[i].kind == DFT_FILE_LIVE ? files[i].memory_bytes : files[i].bytes;
        totals->holes += files[i].skipped.holes;
        totals->other_bytes += files[i].skipped.bytes;
    }
    for (unsigned t = 0; t < DFT_SHARE_TYPES; t++)
        totals->block_bytes += types[t].header_bytes + types[t].stored_bytes;
}

static double per_event(double bytes, const struct totals *totals)
{
    return totals->events ? bytes / (double)totals->events : 0.0;
}

static void json_columns(struct dft_json *json, unsigned type, const struct dft_type_share *share)
{
    char number[16];

    dft_json_object(json, "columns");
    for (unsigned c = 0; c < DFT_SHARE_COLUMNS; c++) {
        const struct dft_column_share *column = &share->columns[c];
        const char *name = dft_share_column_name(type, c);

        if (!column->blocks)
            continue;
        snprintf(number, sizeof(number), "%u", c);
        dft_json_object(json, name ? name : number);
        dft_json_uint(json, "blocks", column->blocks);
        dft_json_uint(json, "raw_bytes", column->raw_bytes);
        dft_json_double(json, "stored_bytes", (double)column->stored_bits / 8);
        dft_json_end_object(json);
    }
    dft_json_end_object(json);
}

static void print_json(const struct dft_type_share *types, const struct totals *totals)
{
    struct dft_json json;
    char number[16];

    dft_json_init(&json, stdout, 1);
    dft_json_object(&json, NULL);
    dft_json_uint(&json, "file_bytes", totals->file_bytes);
    dft_json_uint(&json, "block_bytes", totals->block_bytes);
    dft_json_uint(&json, "hole_bytes", totals->holes);
    dft_json_uint(&json, "unreadable_bytes", totals->other_bytes);
    dft_json_uint(&json, "events", totals->events);
    dft_json_double(&json, "bytes_per_event", per_event((double)totals->file_bytes, totals));
    dft_json_object(&json, "types");
    for (unsigned t = 0; t < DFT_SHARE_TYPES; t++) {
        if (!types[t].blocks)
            continue;
        snprintf(number, sizeof(number), "%u", t);
        dft_json_object(&json, dft_share_type_name(t) ? dft_share_type_name(t) : number);
        dft_json_uint(&json, "blocks", types[t].blocks);
        dft_json_uint(&json, "count", types[t].count);
        dft_json_uint(&json, "header_bytes", types[t].header_bytes);
        dft_json_uint(&json, "stored_bytes", types[t].stored_bytes);
        dft_json_uint(&json, "raw_bytes", types[t].raw_bytes);
        dft_json_uint(&json, "bit_string_bytes", types[t].tail_bytes);
        json_columns(&json, t, &types[t]);
        dft_json_end_object(&json);
    }
    dft_json_end_object(&json);
    dft_json_end_object(&json);
    putchar('\n');
}

/* One line of the table. */
static void print_line(const char *indent, const char *name, uint64_t blocks, double raw, double stored,
                       const struct totals *totals)
{
    double all_bytes = totals->block_bytes ? (double)totals->block_bytes : 1.0;

    printf("%s%-*s %9llu %13.0f %13.1f %6.1f%% %9.3f\n", indent, indent[0] ? 16 : 18, name, (unsigned long long)blocks,
           raw, stored, 100 * stored / all_bytes, per_event(stored, totals));
}

static void print_type(unsigned t, const struct dft_type_share *type, const struct totals *totals)
{
    char number[16];
    const char *name = dft_share_type_name(t);

    snprintf(number, sizeof(number), "type %u", t);
    print_line("", name ? name : number, type->blocks, (double)type->raw_bytes,
               (double)(type->header_bytes + type->stored_bytes), totals);
    for (unsigned c = 0; c < DFT_SHARE_COLUMNS; c++) {
        const struct dft_column_share *column = &type->columns[c];

        if (!column->blocks)
            continue;
        name = dft_share_column_name(t, c);
        snprintf(number, sizeof(number), "column %u", c);
        print_line("  ", name ? name : number, column->blocks, (double)column->raw_bytes,
                   (double)column->stored_bits / 8, totals);
    }
    if (type->tail_bytes)
        print_line("  ", "(low time bits)", type->blocks, (double)type->tail_bytes, (double)type->tail_bytes, totals);
    print_line("  ", "(headers)", type->blocks, (double)type->header_bytes,
               (double)type->header_bytes + (double)type->end_bits / 8, totals);
}

static void print_text(const struct dft_type_share *types, const struct totals *totals)
{
    printf("%-18s %9s %13s %13s %7s %9s\n", "BLOCK, column", "BLOCKS", "RAW BYTES", "STORED BYTES", "SHARE",
           "PER EVENT");
    for (unsigned t = 0; t < DFT_SHARE_TYPES; t++)
        if (types[t].blocks)
            print_type(t, &types[t], totals);
    dft_print_wrapped(
        "%llu bytes in files, %llu in blocks, %llu in holes, %llu unreadable; %llu events, %.2f bytes an event.",
        (unsigned long long)totals->file_bytes, (unsigned long long)totals->block_bytes,
        (unsigned long long)totals->holes, (unsigned long long)totals->other_bytes, (unsigned long long)totals->events,
        per_event((double)totals->file_bytes, totals));
}

static int run(int argc, char **argv)
{
    struct dft_options options;
    struct work work = {0};
    struct totals totals;
    int code;

    if (dft_options_parse(&options, &dft_command_stat, NULL, argc, argv, &code))
        return code;
    options.source.copied = 1;
    if (dft_command_begin(&options, &work.source, &code))
        return code;
    work.shares = calloc(dft_source_threads(work.source), sizeof(*work.shares));
    code = DFT_EXIT_BAD;
    if (work.shares &&
        dft_source_visit(
            work.source,
            &(struct dft_visit){.context = &work, .select = all, .raw = measure, .progress = "blocks measured"}) == 0) {
        for (unsigned i = 1; i < dft_source_threads(work.source); i++)
            for (unsigned t = 0; t < DFT_SHARE_TYPES; t++)
                add_shares(&work.shares[0][t], &work.shares[i][t]);
        dft_comm_sum((uint64_t *)work.shares[0], sizeof(*work.shares) / (sizeof(uint64_t)));
        sum_files(work.source, work.shares[0], &totals);
        if (options.json)
            print_json(work.shares[0], &totals);
        else
            print_text(work.shares[0], &totals);
        code = DFT_EXIT_OK;
    }
    free(work.shares);
    return dft_command_end(&options, work.source, code);
}

const struct dft_command dft_command_stat = {
    .name = "debug stat",
    .arguments = "PATH...",
    .brief = "Bytes by block type and column",
    .details =
        "How many bytes each kind of block and each of its columns takes, before and after compression. The stored "
        "share of a column is exact: the bits of the compressed stream that give the bytes of the column.",
    .example = "dftmerge debug stat traces/",
    .takes = DFT_TAKES_JSON | DFT_TAKES_RANKS,
    .run = run,
};
