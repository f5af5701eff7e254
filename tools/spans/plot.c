/* SPDX-License-Identifier: MIT */
/* dftmerge spans plot: a picture of what a query of the user gives. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "database/database.h"
#include "spans/analysis.h"
#include "spans/distribution.h"
#include "spans/moment.h"
#include "spans/picture.h"

struct plot {
    struct dft_spans_asked asked;
    struct dft_spans_point *points;
    size_t count, capacity;
    uint64_t skipped; /* rows that are no numbers */
    int columns;
};

/* One column is a duration; two are a start and an end. */
static int add_row(struct plot *plot, sqlite3_stmt *row)
{
    struct dft_spans_point point = {0};
    int64_t end = 0;

    if (dft_spans_moment_column(row, 0, &point.x) || (plot->columns == 2 && dft_spans_moment_column(row, 1, &end))) {
        plot->skipped++;
        return 0;
    }
    point.y = plot->columns == 2 ? end - point.x : point.x;
    if (point.y > DFT_SPANS_NS_MAX || point.y < -DFT_SPANS_NS_MAX) {
        plot->skipped++;
        return 0;
    }
    return DFT_ARRAY_PUSH(plot->points, plot->capacity, plot->count, point);
}

/* Says what is wrong with a query that is none of one or two columns. */
static int check(struct plot *plot, sqlite3_stmt *statement, const char *tail)
{
    plot->columns = statement ? sqlite3_column_count(statement) : 0;
    if (!statement || plot->columns < 1 || plot->columns > 2)
        fprintf(stderr,
                "dftmerge spans plot: a query has one column (durations) or two (start and end), all in seconds; this "
                "one has %d\n",
                plot->columns);
    else if (!sqlite3_stmt_readonly(statement))
        fputs("dftmerge spans plot: the query would change the database; only select is taken\n", stderr);
    else if (tail[strspn(tail, " \t\r\n;")])
        fputs("dftmerge spans plot: one query at a time; there is more after the first semicolon\n", stderr);
    else if (plot->columns == 1 && plot->asked.kind && !strcmp(plot->asked.kind, "scatter"))
        fputs("dftmerge spans plot: --kind scatter needs two columns, start and end\n", stderr);
    else
        return 0;
    return DFT_EXIT_USAGE;
}

/* Returns 0, -ENOMEM, or the exit code after an error. */
static int read_rows(struct plot *plot, sqlite3 *db)
{
    sqlite3_stmt *statement = NULL;
    const char *tail = "";
    int error = sqlite3_prepare_v2(db, plot->asked.query, -1, &statement, &tail), rc;

    if (error && (error & 0xff) != SQLITE_INTERRUPT)
        fprintf(stderr, "dftmerge spans plot: %s: %s\n", sqlite3_errmsg(db), plot->asked.query);
    else if (error)
        dft_database_say(db, "the query");
    if (error)
        return DFT_EXIT_BAD;
    rc = check(plot, statement, tail);
    while (!rc && (error = sqlite3_step(statement)) == SQLITE_ROW)
        rc = add_row(plot, statement);
    if (!rc && error != SQLITE_DONE) {
        dft_database_say(db, "the query");
        rc = DFT_EXIT_BAD;
    }
    sqlite3_finalize(statement);
    return rc;
}

static int draw(const struct plot *plot, int kind)
{
    struct dft_spans_distribution distribution;
    char sentence[DFT_SPANS_SENTENCE];
    struct dft_spans_picture picture = {(enum dft_spans_picture_kind)kind,
                                        plot->asked.query,
                                        sentence,
                                        "start, since the first",
                                        plot->columns == 2 ? "end - start" : "duration",
                                        plot->points,
                                        plot->count,
                                        &plot->asked};
    int rc = dft_spans_distribution_make(&distribution, plot->points, plot->count);

    if (rc)
        return rc;
    dft_spans_distribution_text(sentence, &distribution);
    return dft_spans_draw(&plot->asked, dft_spans_picture_draw, &picture);
}

static int answer(struct plot *plot)
{
    int kind = dft_spans_picture_parse(&plot->asked), rc = kind < 0 ? DFT_EXIT_USAGE : 0;
    sqlite3 *db = NULL;

    if (!rc && dft_database_open(&db, plot->asked.file, DFT_DATABASE_READ))
        rc = DFT_EXIT_BAD;
    if (!rc) {
        dft_database_interruptible(db);
        rc = read_rows(plot, db);
        dft_database_interruptible(NULL);
    }
    sqlite3_close_v2(db);
    if (!rc && plot->skipped && !plot->asked.options.source.quiet)
        fprintf(stderr, "dftmerge spans plot: note: %llu rows are no numbers of seconds, and are not drawn\n",
                (unsigned long long)plot->skipped);
    if (!rc && !plot->count) {
        fprintf(stderr, "dftmerge spans plot: the query gave no row to draw; %s was not written\n", plot->asked.output);
        return DFT_EXIT_BAD;
    }
    if (!rc && plot->columns == 1 && !plot->asked.kind)
        kind = DFT_SPANS_HISTOGRAM;
    if (!rc)
        rc = draw(plot, kind);
    if (rc == -ENOMEM)
        fputs("dftmerge spans plot: no memory; let the query give fewer rows\n", stderr);
    return rc < 0 ? DFT_EXIT_BAD : rc;
}

static int run(int argc, char **argv)
{
    struct plot plot = {0};
    int code;

    if (dft_spans_asked_parse(&plot.asked, &dft_spans_plot,
                              DFT_SPANS_TAKES_KIND | DFT_SPANS_TAKES_OUTPUT | DFT_SPANS_TAKES_SIZE |
                                  DFT_SPANS_TAKES_QUERY,
                              argc, argv, &code))
        return code;
    code = answer(&plot);
    free(plot.points);
    return dft_spans_asked_end(&plot.asked, code);
}

const struct dft_command dft_spans_plot = {
    .name = "spans plot",
    .arguments = "FILE.db QUERY -o FILE.svg",
    .brief = "A picture of what a query in SQL gives",
    .details =
        "A query of two columns gives start and end in seconds: x is the start since the first start, and y is end "
        "- start. A query of one column gives durations: a histogram, or --kind density.",
    .example =
        "dftmerge spans plot workflow.db 'select a.time, b.time from event a join event b using (span_uuid) where "
        "a.type = \"running\" and b.type = \"exec_done\"' -o x.svg",
    .run = run,
};
