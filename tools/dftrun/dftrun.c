/* SPDX-License-Identifier: MIT */
/* dftrun: runs a program under the tracer and prints where its I/O time went.
 *
 * The program's standard output stays its own. All messages of dftrun go to standard error. Each
 * run has a prefix of its own for its trace files. The summary is therefore of this run alone, and
 * a directory can hold many runs. The ranks of a job share the directory, and only rank 0 prints.
 * The exit code is that of the program. It is 2 for wrong usage, and 125 when dftrun itself fails
 * or cannot write a trace. The program does not run after 2 or 125. */
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "dftrun/dftrun.h"
#include "dftrun/dftrun_node.h"

#ifndef DFT_LIBDIR
#define DFT_LIBDIR "/usr/local/lib"
#endif
#define LIBRARY "libdftrace.so"

enum { EXIT_USAGE = 2, EXIT_OWN = 125 };

struct run {
    const char *directory, *data_dir, *stack;
    int aggregate, no_summary, node;
    char **command;
    char home[PATH_MAX];    /* where dftrun lies */
    char library[PATH_MAX]; /* libdftrace.so */
    char prefix[PATH_MAX];  /* absolute; trace files are <prefix>-... */
    struct dft_program program;
};

static void print_help(FILE *out)
{
    fputs(
        "usage: dftrun [OPTION...] [--] COMMAND [ARGUMENT...]\n"
        "Runs COMMAND under the I/O tracer, then prints where its I/O time went (on standard error).\n"
        "\n"
        "  -o, --output DIR   directory for the trace files (default: traces)\n"
        "      --aggregate    keep aggregates only, no single events: 0.15 to 3 bytes a call\n"
        "      --data-dir D   trace only files below these directories (colon-separated; a leading ! excludes,\n"
        "                     from everything where no directory is named)\n"
        "      --stack N      record call stacks up to N frames deep\n"
        "      --node         sample this node, too (processors, memory, disks, network, GPUs): dftmerge counters DIR\n"
        "      --no-summary   print nothing afterwards\n"
        "  -h, --help         this text\n"
        "\n"
        "The exit code of COMMAND, or the signal that COMMAND dies of, is that of dftrun. Where no trace can be\n"
        "written to DIR, COMMAND is not run, and the exit code is 125. Other settings are taken from DFTRACER_*\n"
        "variables. In an MPI or Slurm job only rank 0 prints; for the whole job: dftmerge DIR\n"
        "\n"
        "Example:\n"
        "  dftrun -o /tmp/traces -- tar cf /tmp/doc.tar /usr/share/doc\n"
        "  mpirun -n 4 dftrun -o traces -- ./app\n",
        out);
}

static int parse(struct run *run, int argc, char **argv)
{
    enum { AGGREGATE = 256, DATA_DIR, STACK, NODE, NO_SUMMARY };
    static const struct option options[] = {{"output", required_argument, NULL, 'o'},
                                            {"aggregate", no_argument, NULL, AGGREGATE},
                                            {"data-dir", required_argument, NULL, DATA_DIR},
                                            {"stack", required_argument, NULL, STACK},
                                            {"node", no_argument, NULL, NODE},
                                            {"no-summary", no_argument, NULL, NO_SUMMARY},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    int option;

    run->directory = "traces";
    while ((option = getopt_long(argc, argv, "+o:h", options, NULL)) != -1) {
        switch (option) {
        case 'o':
            run->directory = optarg;
            break;
        case AGGREGATE:
            run->aggregate = 1;
            break;
        case DATA_DIR:
            run->data_dir = optarg;
            break;
        case STACK:
            if (!*optarg || optarg[strspn(optarg, "0123456789")]) {
                fprintf(stderr, "dftrun: --stack takes a number of frames, not '%s'\n", optarg);
                return EXIT_USAGE;
            }
            run->stack = optarg;
            break;
        case NODE:
            run->node = 1;
            break;
        case NO_SUMMARY:
            run->no_summary = 1;
            break;
        case 'h':
            print_help(stdout);
            exit(0);
        default:
            fputs("Try: dftrun --help\n", stderr);
            return EXIT_USAGE;
        }
    }
    if (optind == argc) {
        fputs("dftrun: which command shall be traced? For example: dftrun -- ls -l\n", stderr);
        return EXIT_USAGE;
    }
    run->command = argv + optind;
    return 0;
}

static int fits(int n, size_t capacity)
{
    return n > 0 && (size_t)n < capacity;
}

/* Finds the directory of this binary. The library and dftmerge are looked for around that
 * directory. */
static void find_home(struct run *run)
{
    ssize_t n = readlink("/proc/self/exe", run->home, sizeof(run->home) - 1);
    char *slash;

    run->home[n > 0 ? n : 0] = '\0';
    slash = strrchr(run->home, '/');
    if (slash)
        *slash = '\0';
}

/* LD_PRELOAD cannot name a path with a space or a colon, because it has no quotes. */
static int find_library(struct run *run)
{
    static const char *const places[] = {"../lib", "../lib64", "."};
    char path[PATH_MAX];

    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        if (fits(snprintf(path, sizeof(path), "%s/%s/%s", run->home, places[i], LIBRARY), sizeof(path)) &&
            realpath(path, run->library))
            goto found;
    if (!realpath(DFT_LIBDIR "/" LIBRARY, run->library)) {
        fprintf(stderr, "dftrun: %s is neither in %s/../lib nor in %s: build or install dftrace first\n", LIBRARY,
                run->home, DFT_LIBDIR);
        return -ENOENT;
    }
found:
    if (strpbrk(run->library, " :\t\n")) {
        fprintf(stderr, "dftrun: the loader cannot preload '%s' (a space or colon in the path): move it\n",
                run->library);
        return -EINVAL;
    }
    return 0;
}

/* A run's files begin with the time and our pid. A '-' separates the rest, which the library
 * adds. */
static int make_prefix(struct run *run)
{
    char cwd[PATH_MAX] = "";
    struct timespec now;
    struct tm tm;
    int n;

    if (run->directory[0] != '/' && !getcwd(cwd, sizeof(cwd)))
        return -errno;
    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &tm);
    n = snprintf(run->prefix, sizeof(run->prefix), "%s%s%s/run-%04d%02d%02d-%02d%02d%02d-%d", cwd, cwd[0] ? "/" : "",
                 run->directory, tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
                 (int)getpid());
    return fits(n, sizeof(run->prefix)) ? 0 : -ENAMETOOLONG;
}

/* The rank of this process as its launcher names it; NULL outside a job. */
static const char *rank_of_job(void)
{
    static const char *const names[] = {"DFTRACER_RANK",  "OMPI_COMM_WORLD_RANK", "PMIX_RANK",
                                        "PMI_RANK",       "MV2_COMM_WORLD_RANK",  "SLURM_PROCID",
                                        "FLUX_TASK_RANK", "JSM_NAMESPACE_RANK"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *value = getenv(names[i]);

        if (value && *value)
            return value;
    }
    /* torchrun: WORLD_SIZE must confirm a name as plain as RANK */
    return getenv("WORLD_SIZE") ? getenv("RANK") : NULL;
}

static int set_preload(const struct run *run)
{
    const char *before = getenv("LD_PRELOAD");
    const char *first = run->program.sanitizers;
    char *value = NULL;
    int error = 0;

    if (asprintf(&value, "%s%s%s%s%s", first, *first ? ":" : "", run->library, before && *before ? ":" : "",
                 before ? before : "") < 0)
        return -ENOMEM;
    if (setenv("LD_PRELOAD", value, 1) < 0)
        error = -errno;
    free(value);
    return error;
}

static const char *variable(const char *name)
{
    const char *value = getenv(name);

    return value && *value ? value : NULL;
}

/* All ranks of a launch must find the same name. They take the launcher's name of the launch, or
 * none. */
static int put_launch(char *capacity, size_t size)
{
    static const char *const names[] = {"PMIX_NAMESPACE", "FLUX_JOB_ID", "LSB_JOBID", "PBS_JOBID",
                                        "TORCHELASTIC_RUN_ID"};
    const char *job = variable("SLURM_JOB_ID"), *step = variable("SLURM_STEP_ID"), *launch = NULL;

    for (size_t i = 0; !launch && i < sizeof(names) / sizeof(names[0]); i++)
        launch = variable(names[i]);
    return launch        ? snprintf(capacity, size, "%s", launch)
           : job && step ? snprintf(capacity, size, "%s.%s", job, step)
                         : snprintf(capacity, size, "%s", job ? job : "");
}

/* Sets the id that tells this run apart from others. An id that a dftrun around this one has set
 * stays as it is. */
static int set_run_id(void)
{
    char host[65] = "", id[256];
    struct timespec now;

    if (variable("DFTRACER_RUN_ID"))
        return 0;
    if (rank_of_job()) {
        put_launch(id, sizeof(id));
    } else {
        gethostname(host, sizeof(host) - 1);
        clock_gettime(CLOCK_REALTIME, &now);
        snprintf(id, sizeof(id), "%s-%d-%lld.%06ld", host, (int)getpid(), (long long)now.tv_sec, now.tv_nsec / 1000);
    }
    return *id ? setenv("DFTRACER_RUN_ID", id, 1) : 0;
}

/* Runs in the child, because dftmerge must not be traced. */
static int set_environment(const void *context)
{
    const struct run *run = context;
    int failed = setenv("DFTRACER_ENABLE", "1", 1) | setenv("DFTRACER_LOG_FILE", run->prefix, 1) | set_run_id();

    if (run->aggregate)
        failed |= setenv("DFTRACER_ENABLE_AGGREGATION", "1", 1);
    if (run->data_dir)
        failed |= setenv("DFTRACER_DATA_DIR", run->data_dir, 1);
    if (run->stack)
        failed |= setenv("DFTRACER_STACK", run->stack, 1);
    return failed ? -ENOMEM : set_preload(run);
}

/* Can traces be written? If not, says why, and what follows. */
static int can_write(const struct run *run, const char *so)
{
    int error = dft_folder_try(run->prefix);

    if (error)
        fprintf(stderr, "dftrun: no trace can be written to '%s': %s; %s\n", run->directory, strerror(-error), so);
    return !error;
}

/* Did the run leave a file with something in it? The directory is the prefix up to its last '/'. */
static int wrote_something(const struct run *run)
{
    const char *name = strrchr(run->prefix, '/') + 1;
    char directory[PATH_MAX];
    struct dirent *entry;
    struct stat st;
    int found = 0;
    DIR *dir;

    snprintf(directory, sizeof(directory), "%.*s", (int)(name - run->prefix), run->prefix);
    dir = opendir(directory);
    if (!dir)
        return 0;
    while (!found && (entry = readdir(dir)))
        found = strncmp(entry->d_name, name, strlen(name)) == 0 && entry->d_name[strlen(name)] == '-' &&
                fstatat(dirfd(dir), entry->d_name, &st, 0) == 0 && st.st_size > 0;
    closedir(dir);
    return found;
}

/* Makes the glob of this run's files, and escapes characters that have a meaning in a glob. */
static int make_glob(const struct run *run, char *glob, size_t capacity)
{
    size_t n = 0;

    for (const char *p = run->prefix; *p && n + 4 < capacity; p++) {
        if (strchr("*?[\\", *p))
            glob[n++] = '\\';
        glob[n++] = *p;
    }
    return fits(snprintf(glob + n, capacity - n, "-*"), capacity - n) ? 0 : -ENAMETOOLONG;
}

/* Summarises this run: all files that begin with our prefix, whatever their processes call the
 * run. */
static void exec_summary(const struct run *run, char *glob)
{
    char path[PATH_MAX];

    setenv("DFTRACER_ENABLE", "0", 1);
    if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        _exit(EXIT_OWN);
    if (fits(snprintf(path, sizeof(path), "%s/dftmerge", run->home), sizeof(path)))
        execl(path, "dftmerge", "summary", "--run", "all", glob, (char *)NULL);
    execlp("dftmerge", "dftmerge", "summary", "--run", "all", glob, (char *)NULL);
    fprintf(stderr, "dftrun: dftmerge was not found; the traces are %s\n", glob);
    _exit(EXIT_OWN);
}

static void print_summary(const struct run *run)
{
    const char *rank = rank_of_job();
    char glob[2 * PATH_MAX];
    pid_t pid;

    if (run->no_summary || (rank && strcmp(rank, "0") != 0))
        return;
    if (!wrote_something(run)) {
        if (run->program.path[0] && !run->program.untraceable && can_write(run, "so nothing was recorded"))
            fprintf(stderr, "dftrun: no file I/O was seen that could be recorded; nothing was written\n");
        return;
    }
    if (make_glob(run, glob, sizeof(glob)) < 0)
        return;
    fflush(NULL);
    pid = fork();
    if (pid == 0)
        exec_summary(run, glob);
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    fprintf(stderr,
            rank ? "This is rank 0 alone; the whole job: dftmerge %.*s\n" : "Traces: %.*s (more: dftmerge --help)\n",
            (int)(strrchr(run->prefix, '/') - run->prefix), run->prefix);
}

/* Without samples of the node the command runs all the same. */
static pid_t start_node(const struct run *run)
{
    char directory[PATH_MAX];
    pid_t node;

    snprintf(directory, sizeof(directory), "%.*s", (int)(strrchr(run->prefix, '/') - run->prefix), run->prefix);
    set_run_id(); /* the program is given the same */
    node = dft_node_start(directory);
    if (node < 0)
        fprintf(stderr, "dftrun: this node cannot be sampled: %s\n", strerror((int)-node));
    return node;
}

int main(int argc, char **argv)
{
    static struct run run;
    struct dft_outcome outcome = {.status = EXIT_OWN};
    int error = parse(&run, argc, argv);
    pid_t node = 0;

    if (error)
        return error;
    find_home(&run);
    if (find_library(&run) < 0)
        return EXIT_OWN;
    dft_program_inspect(&run.program, run.command[0]);
    if (run.program.untraceable)
        fprintf(stderr, "dftrun: '%s' will run untraced: %s\n", run.command[0], run.program.untraceable);
    error = make_prefix(&run);
    if (!error && !can_write(&run, "the command was not run (-o names another directory)"))
        return EXIT_OWN;
    if (!error && run.node)
        node = start_node(&run);
    if (!error)
        error = dft_child_run(run.command, set_environment, &run, &outcome);
    dft_node_stop(node);
    if (error) {
        fprintf(stderr, "dftrun: %s\n", strerror(-error));
        return EXIT_OWN;
    }
    print_summary(&run);
    dft_child_follow(&outcome);
}
