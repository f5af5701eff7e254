/* SPDX-License-Identifier: MIT */
/* Statements from standard input: from a terminal with a prompt, history and completion. */
#include "sql/sql_prompt.h"

#include <ctype.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#ifdef DFT_HAVE_EDITLINE
#include <editline/readline.h>
#endif

#include "command/command.h"
#include "sql/sql_run.h"
#include "sql/sql_words.h"

#define FIRST "sql> "
#define NEXT  "...> "

/* What was read and not run yet. */
struct pending {
    char *text;
    size_t length;
};

static int is_blank(const struct pending *pending)
{
    return !pending->length || strspn(pending->text, " \t\r\n") == pending->length;
}

static void forget(struct pending *pending)
{
    free(pending->text);
    *pending = (struct pending){0};
}

/* --- lines -------------------------------------------------------------------------------------- */

#ifdef DFT_HAVE_EDITLINE
static sqlite3_stmt *candidates;

static const char all_words[] =
    "select name from (select name from sqlite_temp_master where type in ('table', 'view') union select name from "
    "sqlite_master where type in ('table', 'view') union select c.name from (select name from sqlite_temp_master where "
    "type in ('table', 'view') union select name from sqlite_master where type in ('table', 'view')) t join "
    "pragma_table_info(t.name) c union select column1 from (values ('select'), ('from'), ('where'), ('group by'), "
    "('order by'), ('limit'), ('join'), ('using'), ('having'), ('distinct'), ('between'), ('count('), ('sum('), "
    "('avg('), ('min('), ('max('), ('desc'), ('with'), ('create table'), ('.tables'), ('.schema'), ('.mode'), "
    "('.help'), ('.quit'), ('.examples'))) where substr(name, 1, length(?1)) = lower(?1)";

/* The next word that begins with a text, from malloc, or NULL. */
static char *next_candidate(const char *text, int state)
{
    if (!state) {
        sqlite3_reset(candidates);
        sqlite3_bind_text(candidates, 1, text, -1, SQLITE_TRANSIENT);
    }
    return sqlite3_step(candidates) == SQLITE_ROW ? strdup((const char *)sqlite3_column_text(candidates, 0)) : NULL;
}

static char **complete(const char *text, int start, int end)
{
    (void)start;
    (void)end;
    rl_attempted_completion_over = 1;
    return rl_completion_matches(text, next_candidate);
}

static void begin_editing(struct dft_sql *sql)
{
    rl_readline_name = "dftmerge";
    using_history();
    if (!sqlite3_prepare_v2(sql->db, all_words, -1, &candidates, NULL))
        rl_attempted_completion_function = complete;
}

static void end_editing(void)
{
    rl_attempted_completion_function = NULL;
    sqlite3_finalize(candidates);
    candidates = NULL;
}

static sigjmp_buf before_line;
static volatile sig_atomic_t is_reading;

static void on_interrupt(int number)
{
    (void)number;
    if (is_reading) {
        is_reading = 0;
        siglongjmp(before_line, 1);
    }
}

/* Ctrl-C drops the statement that is being typed. readline itself goes on reading after a signal. */
static char *edit_line(struct pending *pending)
{
    struct sigaction action = {.sa_handler = on_interrupt};
    char *line;

    if (sigsetjmp(before_line, 1)) {
        putchar('\n');
        forget(pending);
    }
    sigaction(SIGINT, &action, NULL);
    is_reading = 1;
    line = readline(is_blank(pending) ? FIRST : NEXT);
    is_reading = 0;
    signal(SIGINT, SIG_DFL);
    if (line && *line)
        add_history(line);
    return line;
}
#else
static void begin_editing(struct dft_sql *sql)
{
    (void)sql;
}

static void end_editing(void) {}

static char *edit_line(struct pending *pending)
{
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;

    fputs(is_blank(pending) ? FIRST : NEXT, stdout);
    fflush(stdout);
    length = getline(&line, &capacity, stdin);
    if (length > 0 && line[length - 1] == '\n')
        line[length - 1] = 0;
    return length < 0 ? free(line), NULL : line;
}
#endif

static char *plain_line(void)
{
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length = getline(&line, &capacity, stdin);

    if (length > 0 && line[length - 1] == '\n')
        line[length - 1] = 0;
    return length < 0 ? free(line), NULL : line;
}

/* --- statements --------------------------------------------------------------------------------- */

static int append(struct pending *pending, const char *line)
{
    size_t length = strlen(line);
    char *bigger = realloc(pending->text, pending->length + length + 2);

    if (!bigger)
        return -ENOMEM;
    pending->text = bigger;
    memcpy(bigger + pending->length, line, length);
    strcpy(bigger + pending->length + length, "\n");
    pending->length += length + 1;
    return 0;
}

/* Words that people type without the dot. */
static int is_plain_word(const char *line)
{
    static const char *const words[] = {"exit", "quit", "help"};
    size_t length = strcspn(line, " \t;");

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (length == strlen(words[i]) && !strncasecmp(line, words[i], length))
            return line[length + strspn(line + length, " \t;")] == 0;
    return 0;
}

/* Runs what is complete. Returns an exit code; -1: the user ends. */
static int take_line(struct dft_sql *sql, struct pending *pending, const char *line)
{
    int code;

    if (is_blank(pending) && *line == '.')
        return dft_sql_word(sql, line);
    if (is_blank(pending) && is_plain_word(line))
        return dft_sql_word(sql, tolower((unsigned char)*line) == 'h' ? ".help" : ".quit");
    if (append(pending, line)) {
        fprintf(stderr, "dftmerge: sql: %s\n", strerror(ENOMEM));
        return DFT_EXIT_BAD;
    }
    /* only a semicolon completes a statement; all of a long one is not looked at for each line */
    if (!strchr(line, ';') || !sqlite3_complete(pending->text))
        return DFT_EXIT_OK;
    code = dft_sql_run(sql, pending->text);
    forget(pending);
    return code;
}

/* On a terminal an error is not the end; elsewhere nobody would see what follows from it. */
int dft_sql_prompt(struct dft_sql *sql)
{
    int terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO), code = DFT_EXIT_OK, any = 0;
    struct pending pending = {0};
    char *line;

    sql->is_terminal = terminal;
    if (terminal) {
        puts("SQL over the traces, up to a semicolon. `.tables` and `.help` say more.");
        begin_editing(sql);
    }
    while ((!code || (terminal && code > 0)) && (line = terminal ? edit_line(&pending) : plain_line())) {
        any |= *line != 0;
        code = take_line(sql, &pending, line);
        fflush(stdout);
        free(line);
    }
    if (!terminal && !code && !is_blank(&pending))
        code = dft_sql_run(sql, pending.text);
    forget(&pending);
    if (terminal)
        end_editing();
    if (!any && !terminal) {
        fputs("dftmerge: sql: which query? `dftmerge sql traces/ \"select * from by_call\"`; --examples has more\n",
              stderr);
        return DFT_EXIT_USAGE;
    }
    return code < 0 || terminal ? DFT_EXIT_OK : code;
}
