/* SPDX-License-Identifier: MIT */
/* The doctor looks at COMMAND without running it: what file it is, and what stands between dftrun
 * and the program that matters. */
#include "dftrun/dftrun_doctor_command.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/nearest_word.h"
#include "base/open_regular.h"
#include "dftrun/dftrun_launch.h"
#include "dftrun/dftrun_reason.h"

static const char topic[] = "COMMAND";

/* --- a command that is not there -------------------------------------------------------------- */

#define NAMES_MAX 65536u

struct names {
    const char **list;
    size_t count;
};

static void collect_names(struct names *names, const char *directory)
{
    DIR *dir = opendir(directory);
    struct dirent *entry;

    while (dir && names->count < NAMES_MAX && (entry = readdir(dir)))
        if (entry->d_name[0] != '.' && (names->list[names->count] = strdup(entry->d_name)))
            names->count++;
    if (dir)
        closedir(dir);
}

/* Puts the known name that was likely meant: in PATH, or in the folder of the path. */
static void put_nearest(char *text, size_t capacity, const char *command)
{
    struct names names = {.list = calloc(NAMES_MAX, sizeof *names.list)};
    const char *base = dft_reason_base(command), *path = dft_run_variable("PATH"), *nearest;
    char *folders = base > command ? strndup(command, (size_t)(base - command)) : strdup(path ? path : ""),
         *next = NULL;

    *text = '\0';
    for (char *folder = folders && names.list ? strtok_r(folders, ":", &next) : NULL; folder;
         folder = strtok_r(NULL, ":", &next))
        collect_names(&names, folder);
    nearest = names.list ? dft_nearest_word(base, strlen(base), names.list, names.count) : NULL;
    if (nearest && strcmp(nearest, base) != 0)
        snprintf(text, capacity, " Did you mean %.*s%s?", (int)(base - command), command, nearest);
    while (names.count)
        free((char *)(uintptr_t)names.list[--names.count]);
    free(names.list);
    free(folders);
}

static int why_not_there(const char *command)
{
    struct stat st;

    if (!strchr(command, '/') && strcmp(command, ".") != 0 && strcmp(command, "..") != 0)
        return ENOENT;
    return stat(command, &st) ? errno : EACCES;
}

static void check_missing(struct dft_checks *checks, const char *command)
{
    int error = why_not_there(command);
    const char *remedy = dft_reason_exec(command, error);
    char nearest[600] = "", advice[1024];

    if (error == ENOENT)
        put_nearest(nearest, sizeof nearest, command);
    snprintf(advice, sizeof advice, "%s%s", remedy ? remedy : "Name a program.", nearest);
    dft_checks_add(checks, DFT_CHECK_WRONG, topic, advice, "'%s' cannot be run: %s", command, strerror(error));
    dft_checks_judge(checks, "'%s' cannot be run: %s", command, strerror(error));
}

static void check_interpreter(struct dft_checks *checks, const struct dft_run *run, const char *file)
{
    const char *script = *run->program.script ? run->program.script : file;
    FILE *stream = dft_fopen_regular(script);
    char line[256] = "";

    if (stream && !fgets(line, sizeof line, stream))
        *line = '\0';
    if (stream)
        fclose(stream);
    line[strcspn(line, "\r\n")] = '\0';
    dft_checks_add(checks, DFT_CHECK_WRONG, topic, "Install the interpreter, or correct the first line of the script.",
                   "%s begins with '%s', and there is no such interpreter", script, line);
    dft_checks_judge(checks, "'%s' cannot be run: the interpreter of its first line is not there", run->command[0]);
}

/* --- what it is ------------------------------------------------------------------------------- */

static void check_program(struct dft_checks *checks, const struct dft_run *run)
{
    const struct dft_program *program = &run->program;

    if (program->untraceable) {
        dft_checks_add(checks, DFT_CHECK_WRONG, topic, program->remedy, "%s: %s", program->path, program->untraceable);
        dft_checks_judge(checks, "'%s' cannot be traced: %s", run->command[0], program->untraceable);
    } else if (access(program->path, R_OK)) {
        dft_checks_add(checks, DFT_CHECK_NOTE, topic, "Make it readable, so that it can be inspected: chmod +r.",
                       "%s may be run, but not read", program->path);
    } else {
        dft_checks_add(checks, DFT_CHECK_OK, topic, NULL, "%s%s%s%s%s", program->script,
                       *program->script ? ", run by " : "", program->path,
                       *program->sanitizers ? "; LD_PRELOAD begins with its sanitizer: " : "", program->sanitizers);
    }
}

static void check_reasons(struct dft_checks *checks, const struct dft_run *run)
{
    struct dft_reason reason = {0};

    if (dft_reason_wrapped(run, &reason)) {
        dft_checks_add(checks, DFT_CHECK_WRONG, topic, reason.remedy, "%s", reason.why);
        dft_checks_judge(checks, "What '%s' runs cannot be traced: %s", run->command[0], reason.why);
    }
    if (dft_reason_cleaned(run, &reason)) {
        dft_checks_add(checks, reason.in_script ? DFT_CHECK_NOTE : DFT_CHECK_WRONG, "environment", reason.remedy, "%s",
                       reason.why);
        if (!reason.in_script)
            dft_checks_judge(checks, "What '%s' runs is not traced: %s", run->command[0], reason.why);
    }
}

/* --- programs that run others elsewhere -------------------------------------------------------- */

static const struct elsewhere {
    const char *names; /* with blanks around */
    enum dft_check_kind kind;
    const char *found, *advice;
} elsewhere[] = {
    {" docker podman nerdctl ", DFT_CHECK_WRONG, "runs its program in a container, which LD_PRELOAD does not reach",
     "Give it the flags that dftrun prints: docker run $(dftrun --container docker) IMAGE COMMAND"},
    {" apptainer singularity ", DFT_CHECK_WRONG, "runs its program in a container, where the library is missing",
     "Give it the flags that dftrun prints: apptainer exec $(dftrun --container apptainer) IMAGE COMMAND"},
    {" kubectl ", DFT_CHECK_WRONG, "runs its programs on other machines, in containers",
     "Add to the pod what dftrun prints: dftrun --container kubernetes"},
    {" ch-run enroot sarus shifter udocker flatpak bwrap systemd-nspawn ", DFT_CHECK_WRONG,
     "runs its program in a container, where the library is missing",
     "Make the library and DIR visible inside, and set LD_PRELOAD and DFTRACER_* there: dftrun --container podman shows them."},
    {" ssh rsh pdsh clush ", DFT_CHECK_WRONG,
     "runs its program on another machine, which the environment does not reach",
     "Put dftrun after it: ssh HOST dftrun -o DIR -- COMMAND"},
    {" sbatch qsub bsub systemd-run ", DFT_CHECK_WRONG, "hands its program over to a service, which runs it later",
     "Put dftrun into the script, before the program: dftrun -o DIR -- COMMAND"},
    {" mpirun mpiexec orterun prterun prun ", DFT_CHECK_NOTE,
     "hands the environment on to ranks of this node alone, as a rule (Open MPI: -x NAME)",
     "Put dftrun after it: mpirun -n 4 dftrun -o DIR -- COMMAND"},
    {" srun aprun jsrun flux ", DFT_CHECK_NOTE,
     "starts its program through a service; the environment may be left behind (--export)",
     "Put dftrun after it: srun dftrun -o DIR -- COMMAND"},
    {" tmux screen ", DFT_CHECK_NOTE, "hands its program over to a server, if one runs already",
     "Put dftrun after it: tmux new dftrun -o DIR -- COMMAND"},
};

static const struct elsewhere *elsewhere_of(const char *word, size_t length)
{
    char name[64];

    if (length > sizeof name - 3)
        return NULL;
    snprintf(name, sizeof name, " %.*s ", (int)length, word);
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        if (length && strstr(elsewhere[i].names, name))
            return &elsewhere[i];
    return NULL;
}

int dft_doctor_is_elsewhere(const char *program, const char **found, const char **advice)
{
    const char *name = dft_reason_base(program);
    const struct elsewhere *of = elsewhere_of(name, strlen(name));

    if (!of)
        return 0;
    *found = of->found;
    *advice = of->advice;
    return 1;
}

/* Words of COMMAND behind programs that only run another one, and behind the options of these. */
static char *const *inner_words(char *const *words)
{
    static const char *const wrappers[] = {"env",     "nice",   "nohup",   "timeout", "time",   "stdbuf", "setsid",
                                           "taskset", "ionice", "numactl", "chrt",    "strace", "exec",   NULL};

    while (words[0] && words[1] && dft_reason_is_one_of(dft_reason_base(words[0]), wrappers))
        do
            words++;
        while (words[1] && (strchr("-0123456789", words[0][0]) || strchr(words[0], '=')));
    return words;
}

static int is_among(char *const *words, const char *part)
{
    while (*words && !strstr(*words, part))
        words++;
    return *words != NULL;
}

/* In a script, the first word of a line counts. Returns the word; *length: how long it is. */
static const char *find_in_lines(const char *lines, int *length)
{
    while (*lines) {
        const char *end, *slash;

        lines += strspn(lines, " \t\n;&|(");
        end = lines + strcspn(lines, " \t\n;&|()<>");
        slash = memrchr(lines, '/', (size_t)(end - lines));
        *length = (int)(end - (slash ? slash + 1 : lines));
        if (elsewhere_of(slash ? slash + 1 : lines, (size_t)*length))
            return slash ? slash + 1 : lines;
        lines += strcspn(lines, "\n;&|");
    }
    return NULL;
}

static void add_elsewhere(struct dft_checks *checks, const struct dft_run *run, const char *word, int length,
                          int in_script)
{
    const struct elsewhere *found = elsewhere_of(word, (size_t)length);

    dft_checks_add(checks, in_script ? DFT_CHECK_NOTE : found->kind, topic, found->advice, "'%.*s' %s", length, word,
                   found->found);
    if (!in_script && found->kind == DFT_CHECK_WRONG)
        dft_checks_judge(checks, "What '%s' runs is not traced: it %s", run->command[0], found->found);
}

/* Flags that name the library, or dftrun behind the launcher, make it right. Returns whether COMMAND
 * itself is such a program. Then *can_run may become 0. */
static int check_elsewhere(struct dft_checks *checks, const struct dft_run *run, int *can_run)
{
    char *const *words = inner_words(run->command);
    const char *name = dft_reason_base(words[0]), *where, *word, *inside;
    char *lines;
    int length = 0;

    if (elsewhere_of(name, strlen(name)) && (is_among(words, "LD_PRELOAD") || is_among(words + 1, "dftrun"))) {
        dft_checks_add(checks, DFT_CHECK_OK, topic, NULL,
                       "'%s' is told what to trace: it is not run, because its traces go to a place of its own", name);
        *can_run = 0;
        return 1;
    }
    if (elsewhere_of(name, strlen(name))) {
        add_elsewhere(checks, run, name, (int)strlen(name), 0);
        return 1;
    }
    if (!*run->program.script && !is_among(run->command, "-c"))
        return 0;
    lines = dft_reason_lines(run, &where);
    inside = lines && !*run->program.script ? strstr(lines, " -c ") : NULL;
    word = lines ? find_in_lines(inside ? inside + 4 : lines, &length) : NULL;
    if (word)
        add_elsewhere(checks, run, word, length, 1);
    free(lines);
    return 0;
}

/* --- Python and conda ------------------------------------------------------------------------- */

/* Options of python in one word, as -IB: those that leave out the variables of Python. */
static void check_python(struct dft_checks *checks, const struct dft_run *run)
{
    char *const *words = inner_words(run->command);

    if (strncmp(dft_reason_base(words[0]), "python", 6) != 0)
        return;
    for (words++; *words && words[0][0] == '-' && !strchr("-cm", words[0][1]); words++)
        if (strpbrk(*words, "IE"))
            dft_checks_add(checks, DFT_CHECK_NOTE, "python",
                           "Calls are recorded all the same. Leave the option out for names of workers and regions.",
                           "'%s' leaves out PYTHONPATH: `python -m dftrace run` does not reach the program", *words);
}

/* Scripts that an activation of a conda environment runs. */
static void check_conda(struct dft_checks *checks)
{
    const char *prefix = dft_run_variable("CONDA_PREFIX");
    char pattern[PATH_MAX];
    glob_t found;

    if (!prefix || snprintf(pattern, sizeof pattern, "%s/etc/conda/activate.d/*.sh", prefix) >= (int)sizeof pattern ||
        glob(pattern, 0, NULL, &found))
        return;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char *const words[] = {(char *)(uintptr_t) "sh", found.gl_pathv[i], NULL};
        struct dft_run script = {.command = (char **)(uintptr_t)words};
        struct dft_reason reason = {0};

        if (dft_reason_cleaned(&script, &reason))
            dft_checks_add(checks, DFT_CHECK_NOTE, "conda",
                           "Put dftrun after the activation: conda run dftrun -- COMMAND", "%s", reason.why);
    }
    globfree(&found);
}

int dft_doctor_command(struct dft_checks *checks, const struct dft_run *run)
{
    char file[PATH_MAX];
    int can_run = 1;

    dft_program_find(file, sizeof file, run->command[0]);
    if (!*file)
        check_missing(checks, run->command[0]);
    else if (!*run->program.path)
        check_interpreter(checks, run, file);
    else if (!check_elsewhere(checks, run, &can_run)) {
        check_program(checks, run);
        check_reasons(checks, run);
        check_python(checks, run);
    }
    check_conda(checks);
    return can_run && dft_checks_number(checks, DFT_CHECK_WRONG) == 0;
}
