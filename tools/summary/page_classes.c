/* SPDX-License-Identifier: MIT */
/* The section of the page by class of calls, and the line of what is no I/O. */
#include "summary/page_classes.h"

#include <stdlib.h>
#include <string.h>

#include "base/write_text.h"
#include "base/write_wrapped.h"
#include "summary/page_table.h"

static const struct {
    uint8_t class;
    const char *word;
} rows[] = {{DFT_IO_READ, "read"},
            {DFT_IO_WRITE, "write"},
            {DFT_IO_SYNC, "sync"},
            {DFT_IO_META, "metadata"},
            {DFT_IO_STARTUP, "start-up"}};
#define ROWS (sizeof rows / sizeof *rows)

static int by_time(const void *left, const void *right)
{
    uint64_t a = ((const struct dft_page_line *)left)->group->metrics.dur_sum;
    uint64_t b = ((const struct dft_page_line *)right)->group->metrics.dur_sum;

    return a > b ? -1 : a < b;
}

int dft_page_classes(const struct dft_page *page)
{
    const struct dft_answer answer = {.source = page->answer.source};
    struct dft_totals all = {page->io.count, page->io.errors, page->io.time_ns, page->io.bytes};
    struct dft_group groups[ROWS] = {{.p50 = DFT_PERCENTILE_UNKNOWN}};
    struct dft_page_line lines[ROWS];
    struct dft_page_table table = {.answer = &answer,
                                   .label_title = "class",
                                   .lines = lines,
                                   .share_ns = page->io.time_ns,
                                   .wall_ns = page->lives_ns,
                                   .processes = page->processes,
                                   .span_ns = page->span_ns,
                                   .all = &all,
                                   .total = "all I/O",
                                   .rest = "other"};

    for (unsigned i = 0; i < ROWS; i++) {
        const struct dft_page_class *class = &page->classes[rows[i].class];

        if (!class->count && !class->bytes)
            continue;
        dft_metrics_clear(&groups[i].metrics);
        groups[i].metrics.count = groups[i].metrics.samples = class->count;
        groups[i].metrics.errors = class->errors;
        groups[i].metrics.dur_sum = class->time_ns;
        groups[i].metrics.bytes = class->bytes;
        groups[i].metrics.data = class->data;
        lines[table.count++] = (struct dft_page_line){&answer, &groups[i], rows[i].word, 0};
    }
    if (table.count < 2)
        return 0;
    qsort(lines, table.count, sizeof *lines, by_time);
    puts("\nTime by class");
    return dft_page_table(&table);
}

void dft_page_waits(const struct dft_answer *answer, uint64_t top)
{
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM];
    struct dft_sentence text;
    FILE *out;

    if (!answer->count)
        return;
    out = dft_sentence_begin(&text);
    if (!out)
        return;
    for (uint32_t i = 0; i < answer->count && i < top; i++) {
        const struct dft_group *group = &answer->groups[i];
        struct dft_key_value name;

        dft_group_value(answer, group, DFT_BY_NAME, &name);
        fputs(i ? ", " : "", out);
        if (name.type == DFT_KEY_TEXT)
            dft_text_escape(out, name.text.bytes, name.text.length);
        fprintf(out, " %s in %s call%s", dft_text_ns(a, group->metrics.dur_sum),
                dft_text_count(b, group->metrics.count), group->metrics.count == 1 ? "" : "s");
    }
    if (answer->found > answer->count)
        fprintf(out, ", and %s others", dft_text_count(a, answer->found - answer->count));
    putchar('\n');
    dft_sentence_end(&text, out, "not I/O", 9);
}
