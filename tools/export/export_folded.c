/* SPDX-License-Identifier: MIT */
/* `--format folded` and `--format folded-bytes`: a line "outer;inner;call weight" for each call
 * stack, for flame graphs. The weight is time in ns, or bytes. Regions have no lines of their own:
 * the calls in a region have stacks of their own. */
#include <inttypes.h>
#include <stdio.h>

#include "base/write_text.h"
#include "mpi/comm.h"
#include "export/export_folded.h"
#include "format/ops.h"
#include "query/answer.h"
#include "query/answer_pages.h"
#include "query/answer_sort.h"
#include "query/plan_times.h"
#include "query/query.h"

/* For tools that read the file, a space ends a stack and a newline ends the line. */
static void put_text(FILE *out, struct dft_text text)
{
    for (uint32_t i = 0, from = 0; i <= text.length; i++) {
        if (i < text.length && text.bytes[i] != ' ' && text.bytes[i] != '\n')
            continue;
        dft_text_escape(out, text.bytes + from, i - from);
        if (i < text.length)
            putc('_', out);
        from = i + 1;
    }
}

static void put_group(struct dft_export *export, const struct dft_answer *answer, const struct dft_group *group,
                      uint64_t weight)
{
    struct dft_key_value stack, name;

    if (group->key.op == DFT_OP_REGION)
        return;
    dft_group_value(answer, group, DFT_BY_STACK, &stack);
    dft_group_value(answer, group, DFT_BY_NAME, &name);
    if (stack.type != DFT_KEY_TEXT) {
        export->left_out += group->metrics.count;
        return;
    }
    if (!weight)
        return;
    put_text(export->out, stack.text);
    putc(';', export->out);
    put_text(export->out, name.text);
    fprintf(export->out, " %" PRIu64 "\n", weight);
}

static int write_folded(struct dft_export *export, int bytes)
{
    const struct dft_query query = {.by = {DFT_BY_STACK, DFT_BY_NAME, DFT_BY_OP}, .nby = 3};
    const struct dft_order order = {.column = "stack"};
    struct dft_answer answer;
    int rc = dft_query_sorted(export->source, export->filter, &query, &order, &answer);

    if (rc)
        return rc;
    do
        for (uint32_t i = 0; i < answer.count; i++)
            put_group(export, &answer, &answer.groups[i],
                      bytes ? answer.groups[i].metrics.bytes : answer.groups[i].metrics.dur_sum);
    while ((rc = dft_answer_next(&answer)) > 0);
    export->left_out += dft_comm_rank() ? 0 : answer.unsplit; /* all ranks know the sum */
    dft_answer_fini(&answer);
    return rc;
}

static int write_time(struct dft_export *export)
{
    return write_folded(export, 0);
}

static int write_bytes(struct dft_export *export)
{
    return write_folded(export, 1);
}

const struct dft_exporter dft_export_folded = {"folded", "call stacks by time", "stacks.folded", .write = write_time};
const struct dft_exporter dft_export_folded_bytes = {"folded-bytes", "call stacks by bytes", "stacks-bytes.folded",
                                                     .write = write_bytes};
