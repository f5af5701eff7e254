/* SPDX-License-Identifier: MIT */
/* Runs one program, passes signals on to it, and ends as the program ended.
 *
 * The program stays in our process group. The terminal's signals (Ctrl-C, Ctrl-\, hang-up, Ctrl-Z)
 * therefore reach it directly. Those signals have si_code SI_KERNEL and must not be sent a second
 * time. All signals of interest are blocked from before the fork until the child's pid is known.
 * They are blocked again before the pid is released. So no signal is lost, and none hits another
 * process. */
#include "dftrun/dftrun_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const int forwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
#define FORWARDED (sizeof(forwarded) / sizeof(forwarded[0]))

static volatile pid_t child;

static void forward(int number, siginfo_t *info, void *context)
{
    int saved = errno;

    (void)context;
    if (child > 0 && info->si_code != SI_KERNEL)
        kill(child, number);
    errno = saved;
}

/* A signal that was ignored when dftrun started (nohup) stays ignored, also for the program. */
static void listen_to_signals(struct sigaction before[FORWARDED])
{
    struct sigaction action = {.sa_sigaction = forward, .sa_flags = SA_SIGINFO | SA_RESTART};

    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < FORWARDED; i++) {
        sigaction(forwarded[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN)
            sigaction(forwarded[i], &action, NULL);
    }
}

static void exec_in_child(char *const argv[], int error, int report)
{
    if (!error) {
        execvp(argv[0], argv);
        error = errno;
    }
    if (write(report, &error, sizeof(error)) != (ssize_t)sizeof(error))
        _exit(126);
    _exit(error == ENOENT || error == ENOTDIR ? 127 : 126);
}

/* A successful exec closes the descriptor. A failed exec sends the error number through it. */
static int exec_error(int report)
{
    int error = 0;
    ssize_t got;

    do
        got = read(report, &error, sizeof(error));
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof(error) ? error : 0;
}

/* Waits without reaping, so that no other process can get the pid while a handler might still use
 * it. */
static int wait_for_child(const sigset_t *signals, struct dft_outcome *outcome)
{
    struct timespec now;
    siginfo_t info;
    int status;

    while (waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) < 0)
        if (errno != EINTR)
            return -errno;
    sigprocmask(SIG_BLOCK, signals, NULL);
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -errno;
    clock_gettime(CLOCK_REALTIME, &now);
    outcome->waited_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    outcome->waited = status;
    outcome->pid = child;
    child = 0;
    outcome->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    outcome->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + outcome->signal;
    return 0;
}

static void stop_listening(const struct sigaction before[FORWARDED], const sigset_t *mask)
{
    for (size_t i = 0; i < FORWARDED; i++)
        sigaction(forwarded[i], &before[i], NULL);
    sigprocmask(SIG_SETMASK, mask, NULL);
}

int dft_child_run(char *const argv[], int (*prepare)(const void *context), const void *context,
                  struct dft_outcome *outcome)
{
    struct sigaction before[FORWARDED];
    sigset_t signals, mask;
    int report[2], error = 0;

    if (pipe2(report, O_CLOEXEC) < 0)
        return -errno;
    sigemptyset(&signals);
    for (size_t i = 0; i < FORWARDED; i++)
        sigaddset(&signals, forwarded[i]);
    sigprocmask(SIG_BLOCK, &signals, &mask);
    listen_to_signals(before);
    child = fork();
    if (child == 0) {
        stop_listening(before, &mask);
        exec_in_child(argv, -prepare(context), report[1]);
    }
    if (child < 0)
        error = -errno;
    close(report[1]);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    if (!error) {
        int failed = exec_error(report[0]);

        if (failed)
            fprintf(stderr, "dftrun: cannot run '%s': %s\n", argv[0], strerror(failed));
        outcome->error = failed;
        error = wait_for_child(&signals, outcome);
    }
    close(report[0]);
    stop_listening(before, &mask);
    return error;
}

void dft_child_follow(const struct dft_outcome *outcome)
{
    if (outcome->signal) {
        const struct rlimit none = {0, 0};
        sigset_t only;

        setrlimit(RLIMIT_CORE, &none); /* only the program's core dump matters */
        signal(outcome->signal, SIG_DFL);
        sigemptyset(&only);
        sigaddset(&only, outcome->signal);
        sigprocmask(SIG_UNBLOCK, &only, NULL);
        raise(outcome->signal);
    }
    exit(outcome->status);
}
