/* SPDX-License-Identifier: MIT */
/* fuzz_calls: thousands of random calls on files, the same for the same seed, in several processes
 * and threads. See README.md. */
#include "fuzz.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

struct options options = {.only = -1};

/* --- one worker ------------------------------------------------------------------------------- */

static const struct operation *const tables[] = {open_operations, data_operations,    seek_operations,
                                                 meta_operations, stream_operations,  text_operations,
                                                 dir_operations,  process_operations, transfer_operations};

static int weight(const struct worker *w, const struct operation *operation)
{
    return w->threaded ? operation->threaded : operation->weight;
}

void op_run(struct worker *w, int op)
{
    unsigned sum = 0, chosen;

    chance_begin(w, op);
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const struct operation *o = tables[t]; o->name; o++)
            sum += (unsigned)weight(w, o);
    chosen = below(w, sum);
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const struct operation *o = tables[t]; o->name; o++) {
            if (chosen < (unsigned)weight(w, o)) {
                o->run(w);
                return;
            }
            chosen -= (unsigned)weight(w, o);
        }
}

void work(struct worker *w)
{
    unsigned ops = w->ops;

    for (unsigned op = 0; op < ops; op++)
        if (is_kept(w->keep, (int)op))
            op_run(w, (int)op);
    w->op = (int)ops;
    for (int i = 0; i < MAPS; i++)
        if (w->maps[i].at) {
            RAW(munmap, w->maps[i].at, w->maps[i].length, 0, 0, 0, 0);
            file_drop(w->maps[i].file);
            w->maps[i].at = NULL;
        }
    close_everything(w);
}

static struct worker *new_worker(const char *lineage, unsigned number)
{
    struct worker *w = calloc(1, sizeof *w);

    if (!w)
        abort();
    w->seed = options.seed;
    w->number = number;
    w->ops = options.ops;
    w->keep = options.keep;
    w->common = w->common_race = w->last_closed = -1;
    w->untraced_too = 1;
    snprintf(w->lineage, sizeof w->lineage, "%s", lineage);
    snprintf(w->root, sizeof w->root, "%s/%s", options.work, lineage);
    for (int i = 0; i < FDS; i++)
        w->fds[i].fd = -1;
    for (int i = 0; i < STREAMS; i++)
        w->streams[i].at.fd = -1;
    log_open(w);
    return w;
}

/* --- threads ---------------------------------------------------------------------------------- */

static void *run_thread(void *argument)
{
    struct worker *w = argument;

    w->log[0] = '#'; /* of this thread */
    w->log_used =
        (size_t)sprintf(w->log, "#\t%ld\t%ld\n", RAW(getpid, 0, 0, 0, 0, 0, 0), RAW(gettid, 0, 0, 0, 0, 0, 0));
    work(w);
    log_close(w);
    return NULL;
}

static int open_common(struct worker *w, struct shared_file *file)
{
    char path[NAME_ROOM];
    int fd;

    snprintf(path, sizeof path, "%s/common", options.work);
    make_name(w, &file->name, NULL, path);
    file->origin = "";
    file->references = 100;
    fd = DO(w, open(path, O_RDONLY));
    say_fd(w, "open", fd, "%s\tflags=0", file_text(&file->name));
    return fd;
}

static void run_threads(unsigned process)
{
    struct worker *main_worker, *workers[16];
    struct shared_file common = {0}, race = {0};
    pthread_t threads[16];
    char lineage[40];
    int common_fd, race_fd;

    snprintf(lineage, sizeof lineage, "w%u", process);
    main_worker = new_worker(lineage, process);
    main_worker->threaded = 1;
    common_fd = open_common(main_worker, &common);
    race_fd = open_common(main_worker, &race);
    for (unsigned t = 0; t < options.threads; t++) {
        snprintf(lineage, sizeof lineage, "w%ut%u", process, t);
        workers[t] = new_worker(lineage, process * 100 + t + 50);
        workers[t]->threaded = 1;
        workers[t]->common = common_fd;
        workers[t]->common_race = race_fd;
        workers[t]->common_file = common;
        workers[t]->race_file = race;
        if (options.only >= 0 && options.only != (int)t)
            workers[t]->ops = 0;
    }
    for (unsigned t = 0; t < options.threads; t++)
        if (pthread_create(&threads[t], NULL, run_thread, workers[t]))
            abort();
    for (unsigned t = 0; t < options.threads; t++)
        pthread_join(threads[t], NULL);
    main_worker->op = (int)options.ops;
    for (int i = 0; i < 2; i++) {
        struct fd_slot slot = {i ? race_fd : common_fd, "", i ? &race : &common};

        close_slot(main_worker, &slot);
    }
    log_close(main_worker);
}

/* --- processes -------------------------------------------------------------------------------- */

static void run_process(unsigned process)
{
    char lineage[40];
    struct worker *w;

    umask(022);
    snprintf(lineage, sizeof lineage, "w%u", process);
    if (process % 2 && options.threads) {
        run_threads(process);
        return;
    }
    w = new_worker(lineage, process);
    {
        struct name name;
        int r;

        make_name(w, &name, NULL, w->root);
        r = DO(w, chdir(w->root));
        say(w, "chdir", r, r < 0, "%s", file_text(&name));
    }
    work(w);
    log_close(w);
}

static int run_processes(void)
{
    pid_t children[64];
    int status, failed = 0;

    for (unsigned p = 0; p < options.processes && p < 64; p++) {
        children[p] = fork();
        if (children[p] == 0) {
            run_process(p);
            exit(0);
        }
    }
    for (unsigned p = 0; p < options.processes && p < 64; p++)
        if (waitpid(children[p], &status, 0) < 0 || status)
            failed = 1;
    return failed;
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN); /* inherited by images too */
    if (argc > 1 && strcmp(argv[1], "--image") == 0)
        return run_image(argc, argv);
    if (argc < 7) {
        fprintf(stderr, "usage: fuzz_calls WORK LOGS SEED OPS PROCESSES THREADS [PROCESS [KEEP [THREAD]]]\n");
        return 2;
    }
    options.work = argv[1];
    options.logs = argv[2];
    options.seed = strtoul(argv[3], NULL, 10);
    options.ops = (unsigned)atoi(argv[4]);
    options.processes = (unsigned)atoi(argv[5]);
    options.threads = (unsigned)atoi(argv[6]) > 16 ? 16 : (unsigned)atoi(argv[6]);
    options.keep = argc > 8 ? argv[8] : NULL;
    options.only = argc > 9 ? atoi(argv[9]) : -1;
    if (argc > 7) {
        run_process((unsigned)atoi(argv[7]));
        return 0;
    }
    return run_processes();
}
