/* SPDX-License-Identifier: MIT */
/* `dftmerge sql`: the command. */
#include "sql/sql.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/open_regular.h"
#include "command/command.h"
#include "sql/sql_prompt.h"
#include "sql/sql_run.h"
#include "sql/sql_words.h"

/* What the plain arguments are. */
struct asked {
    const char *query;    /* NULL: there is none */
    const char *database; /* a file of SQLite; NULL: none */
    char **paths;         /* traces */
    int npaths;
};

static int is_database(const char *path)
{
    static const char magic[16] = "SQLite format 3";
    char head[sizeof magic];
    FILE *in = dft_fopen_regular(path);
    int is = in && fread(head, sizeof head, 1, in) == 1 && !memcmp(head, magic, sizeof head);

    if (in)
        fclose(in);
    return is;
}

/* The query is the last argument: no path has its form and is not there. */
static int is_query(const char *text)
{
    return access(text, F_OK) && (strpbrk(text, " \t\n;") || dft_sql_is_word(text));
}

/* A misspelt word such as .tabels, behind paths. */
static int is_like_word(const char *text)
{
    return access(text, F_OK) && *text == '.' && isalpha((unsigned char)text[1]) && !strpbrk(text, "/*?[");
}

static int looks_like_select(const char *text)
{
    return access(text, F_OK) && (!strncasecmp(text, "select ", 7) || !strncasecmp(text, "with ", 5));
}

/* Says on stderr what is wrong. Returns 0 or an exit code. */
static int understand(struct asked *asked, const struct dft_options *options)
{
    int count = options->source.npaths;

    asked->paths = calloc((size_t)count + 1, sizeof *asked->paths);
    if (!asked->paths) {
        fprintf(stderr, "dftmerge: sql: %s\n", strerror(ENOMEM));
        return DFT_EXIT_BAD;
    }
    if (count &&
        (is_query(options->source.paths[count - 1]) || (count > 1 && is_like_word(options->source.paths[count - 1]))))
        asked->query = options->source.paths[--count];
    for (int i = 0; i < count; i++) {
        char *path = options->source.paths[i];

        if (looks_like_select(path)) {
            fprintf(stderr,
                    "dftmerge: sql: QUERY comes behind all paths, and is one argument: dftmerge sql traces/ \"%s\"\n",
                    path);
            return DFT_EXIT_USAGE;
        }
        if (!is_database(path)) {
            asked->paths[asked->npaths++] = path;
        } else if (asked->database) {
            fprintf(stderr,
                    "dftmerge: sql: %s and %s are databases, and one is opened. `attach '%s' as b` opens another\n",
                    asked->database, path, path);
            return DFT_EXIT_USAGE;
        } else {
            asked->database = path;
        }
    }
    if (!asked->npaths && !asked->database) {
        fputs("dftmerge sql: which traces? Name files (.dft), the directory they are in, or a database\n", stderr);
        return DFT_EXIT_USAGE;
    }
    if (!asked->npaths && dft_filter_has_any(&options->filter)) {
        fputs("dftmerge: sql: --rank, --from and the like choose events of traces, and no trace is named\n", stderr);
        return DFT_EXIT_USAGE;
    }
    return 0;
}

static int make_tables(struct dft_sql *sql, struct dft_source *source, const struct dft_filter *filter)
{
    char *message = NULL;
    int error = dft_vtab_register(sql->db, source, filter, &sql->tables);

    if (!error)
        error = dft_vtab_create_all(sql->db, "", &message);
    if (error)
        fprintf(stderr, "dftmerge: sql: %s\n", message ? message : sqlite3_errstr(error));
    sqlite3_free(message);
    return error;
}

static int has_rows(const struct dft_source *source)
{
    size_t count;
    const struct dft_block *blocks = dft_source_blocks(source, &count);

    for (size_t i = 0; i < count; i++)
        if (blocks[i].type == DFT_BLOCK_BUCKETS && blocks[i].use & DFT_IN_ROWS)
            return 1;
    return 0;
}

/* Opens the database, and asks. The source (NULL: none) is open. */
static int ask(const struct asked *asked, const struct dft_options *options, struct dft_source *source)
{
    struct dft_sql sql = {.form = options->json  ? DFT_SQL_JSON
                                  : options->csv ? DFT_SQL_CSV
                                                 : DFT_SQL_TABLE,
                          .quiet = options->source.quiet};
    int code = DFT_EXIT_BAD;

    sql.has_rows = source && has_rows(source);
    if (!dft_database_open(&sql.db, asked->database, asked->database ? DFT_DATABASE_WRITE : DFT_DATABASE_MEMORY) &&
        (!source || !make_tables(&sql, source, &options->filter))) {
        if (!asked->query)
            code = dft_sql_prompt(&sql);
        else if (*asked->query == '.')
            code = dft_sql_word(&sql, asked->query);
        else
            code = dft_sql_run(&sql, asked->query);
    }
    sqlite3_close_v2(sql.db);
    return code < 0 ? DFT_EXIT_OK : code;
}

static int run_with(struct asked *asked, struct dft_options *options)
{
    struct dft_source *source = NULL;
    int code;

    if (!asked->npaths) {
        code = ask(asked, options, NULL);
        if (!code && (fflush(stdout) || ferror(stdout))) {
            fprintf(stderr, "dftmerge: standard output: %s\n", strerror(errno));
            code = DFT_EXIT_BAD;
        }
        dft_options_fini(options);
        return code;
    }
    options->source.paths = asked->paths;
    options->source.npaths = asked->npaths;
    if (dft_command_begin(options, &source, &code))
        return code;
    code = ask(asked, options, source);
    return dft_command_end(options, source, code);
}

/* A query that begins with a comment looks like an option. */
static void skip_comments(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        while (!strncmp(argv[i], "-- ", 3) && strchr(argv[i], '\n'))
            argv[i] = strchr(argv[i], '\n') + 1;
}

static int run(int argc, char **argv)
{
    int examples = 0, code;
    const struct dft_option own[] = {
        {.name = "examples", .flag = &examples, .help = "Print ten useful queries", .alone = 1}, {0}};
    struct dft_options options;
    struct asked asked = {0};

    skip_comments(argc, argv);
    if (dft_options_parse(&options, &dft_command_sql, own, argc, argv, &code))
        return code;
    if (examples) {
        dft_sql_examples();
        dft_options_fini(&options);
        return fflush(stdout) ? DFT_EXIT_BAD : DFT_EXIT_OK;
    }
    code = understand(&asked, &options);
    if (code)
        dft_options_fini(&options);
    else
        code = run_with(&asked, &options);
    free(asked.paths);
    return code;
}

const struct dft_command dft_command_sql = {
    .name = "sql",
    .arguments = "PATH... [QUERY]",
    .brief = "Ask traces and databases in SQL",
    .details =
        "QUERY is the last argument, one statement or several. Without it statements are read from standard input, "
        "with a prompt on a terminal. `.tables` and `.schema` as QUERY list what there is. A PATH may be a "
        "database of SQLite, such as one of `dftmerge spans`: it is opened, and traces have their tables beside. "
        "Filters narrow all tables.",
    .example = "dftmerge sql traces/ \"select name, sum(bytes) from rows group by name\"",
    .takes = DFT_TAKES_JSON | DFT_TAKES_CSV | DFT_TAKES_FILTER | DFT_TAKES_ALIGN | DFT_TAKES_CLASSES,
    .run = run,
};
