/* SPDX-License-Identifier: MIT */
/* What the kernel counted of reads and writes (/proc/self/io) against what was seen. */
#include <stdio.h>

#include "base/write_json.h"
#include "base/write_text.h"
#include "format/ops.h"
#include "summary/summary.h"

#define ODD 100 /* less than one byte in so many, of all that were read and written, is not said */

static int add_seen(void *context, const struct dft_answer *answer)
{
    struct dft_unseen *unseen = context;

    for (uint32_t i = 0; i < answer->count; i++) {
        const struct dft_group *group = &answer->groups[i];

        if (!unseen->io.known[answer->process_group[group->key.process_group - 1]->number])
            continue;
        if (dft_op_class(group->key.op) == DFT_CLASS_READ)
            unseen->seen_read += group->metrics.bytes;
        else
            unseen->seen_written += group->metrics.bytes;
    }
    return 0;
}

unsigned dft_unseen_put(struct dft_unseen *unseen, struct dft_query_request *requests, unsigned count)
{
    struct dft_query query = {.by = {DFT_BY_PROCESS, DFT_BY_OP}, .nby = 2};

    if (!unseen->io.processes)
        return count;
    for (unsigned op = 0; op < DFT_OP_COUNT; op++)
        query.ops |=
            (uint64_t)(dft_op_class((uint8_t)op) == DFT_CLASS_READ || dft_op_class((uint8_t)op) == DFT_CLASS_WRITE)
            << op;
    requests[count] = (struct dft_query_request){query, {.in_parts = 1}, &unseen->calls};
    return count + 1;
}

int dft_unseen_take(struct dft_unseen *unseen)
{
    return unseen->io.processes ? dft_answer_each(&unseen->calls, add_seen, unseen) : 0;
}

void dft_unseen_fini(struct dft_unseen *unseen)
{
    dft_answer_fini(&unseen->calls);
    dft_kernel_io_fini(&unseen->io);
}

int dft_unseen_collect(struct dft_summary *summary, struct dft_unseen *unseen)
{
    return dft_kernel_io_collect(&unseen->io, summary->source, &summary->options->filter);
}

/* What a damaged trace says may wrap around. */
static int64_t without(int64_t all, uint64_t seen)
{
    return (int64_t)((uint64_t)all - seen);
}

void dft_unseen_print(FILE *out, const struct dft_unseen *unseen)
{
    int64_t read = without(unseen->io.read, unseen->seen_read);
    int64_t written = without(unseen->io.written, unseen->seen_written);
    int64_t all = without(unseen->io.read, 0 - (uint64_t)unseen->io.written);
    int says_read = read > all / ODD, says_written = written > all / ODD;
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM];

    if (!unseen->io.processes || (!says_read && !says_written))
        return;
    if (says_read)
        fprintf(out, "%s of %s read", dft_text_bytes(a, (uint64_t)read), dft_text_bytes(b, (uint64_t)unseen->io.read));
    if (says_written)
        fprintf(out, "%s%s of %s written", says_read ? ", " : "", dft_text_bytes(a, (uint64_t)written),
                dft_text_bytes(b, (uint64_t)unseen->io.written));
    fputs(" by system calls: raw calls, left-out files, pipes, the C library", out);
}

void dft_unseen_json(struct dft_json *json, const struct dft_unseen *unseen)
{
    if (!unseen->io.processes) {
        dft_json_null(json, "system_calls");
        return;
    }
    dft_json_object(json, "system_calls");
    dft_json_uint(json, "processes", unseen->io.processes);
    dft_json_int(json, "read_bytes", unseen->io.read);
    dft_json_int(json, "written_bytes", unseen->io.written);
    dft_json_uint(json, "seen_read_bytes", unseen->seen_read);
    dft_json_uint(json, "seen_written_bytes", unseen->seen_written);
    dft_json_int(json, "unseen_read_bytes", without(unseen->io.read, unseen->seen_read));
    dft_json_int(json, "unseen_written_bytes", without(unseen->io.written, unseen->seen_written));
    dft_json_end_object(json);
}
