/* SPDX-License-Identifier: MIT */
/* Says why nothing was recorded, or only a part, and what to do about it: one sentence each. */
#include "dftrun/dftrun_reason.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/open_regular.h"
#include "dftrun/dftrun_folder.h"
#include "dftrun/dftrun_launch.h"

#define TEXT_MAX 65536

static const char *const shells[] = {"sh", "bash", "dash", "zsh", "ksh", NULL};

const char *dft_reason_base(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

int dft_reason_is_one_of(const char *word, const char *const *words)
{
    while (*words && strcmp(word, *words))
        words++;
    return *words != NULL;
}

/* --- the environment that a program cleans ---------------------------------------------------- */

/* Finds the first command of these lines that takes LD_PRELOAD away. */
const char *dft_reason_find_cleaning(char *lines)
{
    static const char *const commands[] = {"env -i",
                                           "env - ",
                                           "env --ignore-environment",
                                           "env -u LD_PRELOAD",
                                           "unset LD_PRELOAD",
                                           "exec -c ",
                                           "sudo ",
                                           "doas ",
                                           "pkexec ",
                                           "su - ",
                                           "su -l ",
                                           "su --login "};

    for (char *line = strtok(lines, "\n;"); line; line = strtok(NULL, "\n;")) {
        line += strspn(line, " \t");
        for (size_t i = 0; *line != '#' && i < sizeof commands / sizeof *commands; i++) {
            const char *at = strstr(line, commands[i]);

            if (at && (at == line || (!isalnum((unsigned char)at[-1]) && !strchr("_-.", at[-1]))))
                return commands[i];
        }
    }
    return NULL;
}

static void join(char *text, char *const *words)
{
    size_t n = 0;

    for (; *words; words++)
        if (n + strlen(*words) + 2 < TEXT_MAX)
            n += (size_t)sprintf(text + n, "%s ", *words);
}

static void read_script(char *text, const char *path)
{
    FILE *file = dft_fopen_regular(path); /* a pipe was read by the shell */
    size_t n = file ? fread(text, 1, TEXT_MAX - 1, file) : 0;

    text[n] = '\0';
    if (memchr(text, '\0', n))
        *text = '\0'; /* no script */
    if (file)
        fclose(file);
}

/* The script that COMMAND is, or that a shell is to run. NULL: there is none. */
static const char *script_of(const struct dft_run *run)
{
    char *const *words = run->command;

    if (*run->program.script)
        return run->program.script;
    return dft_reason_is_one_of(dft_reason_base(words[0]), shells) && words[1] && words[1][0] != '-' ? words[1] : NULL;
}

char *dft_reason_lines(const struct dft_run *run, const char **where)
{
    const char *script = script_of(run);
    char *text = calloc(1, TEXT_MAX);

    *where = script ? script : "the command";
    if (text && script)
        read_script(text, script);
    else if (text)
        join(text, run->command);
    return text;
}

/* The command itself may say it, the words of `sh -c`, or a script. */
static const char *cleaning_command(const struct dft_run *run, const char **where)
{
    static const char *const cleaners[] = {"env", "sudo", "doas", "pkexec", "su", NULL};
    const char *name = dft_reason_base(run->command[0]), *found = NULL;
    char *text = dft_reason_lines(run, where);

    if (text && (script_of(run) || dft_reason_is_one_of(name, cleaners) || dft_reason_is_one_of(name, shells)))
        found = dft_reason_find_cleaning(text);
    free(text);
    return found;
}

int dft_run_is_on(const char *name)
{
    const char *value = dft_run_variable(name);

    return value &&
           (!strcmp(value, "1") || !strcasecmp(value, "true") || !strcasecmp(value, "on") || !strcasecmp(value, "yes"));
}

int dft_reason_cleaned(const struct dft_run *run, struct dft_reason *reason)
{
    const char *where, *command = cleaning_command(run, &where);
    int changes_user = command && strchr("sdp", *command) != NULL; /* sudo, su, doas, pkexec */

    if (!command || (dft_run_is_on("DFTRACER_FOLLOW_EXEC") && !changes_user))
        return 0;
    snprintf(reason->why, sizeof reason->why, "'%.*s' in %.400s takes LD_PRELOAD away from what it runs",
             (int)strcspn(command + strlen(command) - 1, " ") + (int)strlen(command) - 1, command, where);
    reason->remedy = changes_user ? "Put dftrun after it: sudo dftrun -- COMMAND."
                                  : "Set DFTRACER_FOLLOW_EXEC=1, or put dftrun after it.";
    reason->in_script = script_of(run) != NULL;
    return 1;
}

/* --- a program behind another one --------------------------------------------------------------- */

/* The program that COMMAND is there to run: "timeout 5 ./app", "sh -c './app -x'". Empty: none is
 * known. */
static void wrapped_program(const struct dft_run *run, char *name, size_t capacity)
{
    static const char *const wrappers[] = {"env",    "nice",    "nohup",  "timeout", "time", "stdbuf",
                                           "setsid", "taskset", "ionice", "numactl", "chrt", NULL};
    const char *command = dft_reason_base(run->command[0]);
    char **words = run->command + 1;

    *name = '\0';
    if (dft_reason_is_one_of(command, shells) && words[0] && !strcmp(words[0], "-c") && words[1])
        snprintf(name, capacity, "%.*s", (int)strcspn(words[1], " \t\n;|&<>()$`'\""), words[1]);
    else if (dft_reason_is_one_of(command, wrappers))
        for (; *words && !*name; words++)
            if (strchr(*words, '/') && !access(*words, X_OK) && !strchr(*words, '='))
                snprintf(name, capacity, "%s", *words);
}

int dft_reason_wrapped(const struct dft_run *run, struct dft_reason *reason)
{
    struct dft_program program;
    char name[512];

    wrapped_program(run, name, sizeof name);
    if (!*name)
        return 0;
    dft_program_inspect(&program, name);
    if (!program.untraceable)
        return 0;
    snprintf(reason->why, sizeof reason->why, "'%.300s': %s", name, program.untraceable);
    reason->remedy = program.remedy;
    return 1;
}

/* --- a program that could not be run ---------------------------------------------------------- */

const char *dft_reason_exec(const char *command, int error)
{
    struct stat st;
    int is_path = strchr(command, '/') != NULL, is_there = !stat(command, &st);

    if (error == ENOENT && is_path && is_there)
        return "The file is there; what its first line, or its program header, names as interpreter is not: install it.";
    if (error == ENOENT && !is_path && is_there && S_ISREG(st.st_mode))
        return "It is in this directory, and not in PATH: write ./ before its name.";
    if (error == ENOENT)
        return is_path ? "Is the path spelled right?" : "It is not in PATH: is it spelled right?";
    if (error == EACCES && is_there && S_ISREG(st.st_mode) && !(st.st_mode & 0111))
        return "Make it a program with chmod +x, or name its interpreter: dftrun -- sh FILE.";
    return error == EACCES && is_there && S_ISDIR(st.st_mode) ? "It is a directory: name a program in it." : NULL;
}

/* --- what is said ----------------------------------------------------------------------------- */

/* Returns whether the program was traced, and made no call that is recorded. */
static int find_reason(const struct dft_run *run, struct dft_reason *reason)
{
    if (run->program.untraceable) {
        snprintf(reason->why, sizeof reason->why, "'%.400s': %s", run->command[0], run->program.untraceable);
        reason->remedy = run->program.remedy;
    } else if (dft_run_is_on("DFTRACER_DISABLE_IO")) {
        snprintf(reason->why, sizeof reason->why, "DFTRACER_DISABLE_IO is set, and the program has no annotations");
        reason->remedy = "Unset it to record calls.";
    } else if (!dft_reason_cleaned(run, reason) && !dft_reason_wrapped(run, reason)) {
        snprintf(reason->why, sizeof reason->why, "no file I/O was seen in '%.400s', nor in what it ran",
                 run->command[0]);
        reason->remedy = "Loading a program does not count, nor what lies in /proc, /sys and /dev.";
        return 1;
    }
    return 0;
}

void dft_reason_print(const struct dft_run *run, const struct dft_outcome *outcome)
{
    struct dft_reason reason = {0};
    int error = dft_folder_try(run->prefix);

    if (outcome->error) {
        const char *remedy = dft_reason_exec(run->command[0], outcome->error);

        if (remedy)
            fprintf(stderr, "dftrun: %s\n", remedy);
        return;
    }
    if (error) {
        fprintf(stderr, "dftrun: no trace can be written to '%s': %s; so nothing was recorded\n", run->directory,
                strerror(-error));
        return;
    }
    if (find_reason(run, &reason) && run->no_page) /* nobody requested a page, and nothing went wrong */
        return;
    fprintf(stderr, "dftrun: nothing was recorded: %s\ndftrun: %s More: dftrun --doctor -- COMMAND\n", reason.why,
            reason.remedy);
}

void dft_reason_note(const struct dft_run *run)
{
    struct dft_reason reason = {0};

    if (dft_reason_cleaned(run, &reason) || dft_reason_wrapped(run, &reason))
        fprintf(stderr, "dftrun: some programs were not traced: %s\ndftrun: %s\n", reason.why, reason.remedy);
}
