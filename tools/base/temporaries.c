/* SPDX-License-Identifier: MIT */
/* Owns the list of temporary files that the process has now; see temporaries.h. */
#include "base/temporaries.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

#define MOST 512

static const char *names[MOST];
static atomic_flag locked = ATOMIC_FLAG_INIT;
static pid_t owner; /* a child between fork and exec has the list, and not the files */

/* Who holds the lock has its signals blocked, so a handler waits for another thread at most. */
static void lock(void)
{
    while (atomic_flag_test_and_set_explicit(&locked, memory_order_acquire))
        ;
}

static void on_signal(int number)
{
    lock();
    for (size_t i = 0; i < MOST && owner == getpid(); i++)
        if (names[i])
            unlink(names[i]);
    signal(number, SIG_DFL);
    raise(number); /* it comes when this has returned */
    atomic_flag_clear_explicit(&locked, memory_order_release);
}

static void catch (void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal}, before;

    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!sigaction(numbers[i], NULL, &before) && before.sa_handler == SIG_DFL)
            sigaction(numbers[i], &action, NULL);
}

static void begin(sigset_t *before)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, before);
    lock();
}

static void end(const sigset_t *before)
{
    atomic_flag_clear_explicit(&locked, memory_order_release);
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

/* The first place that holds `from` holds `to` then. */
static void exchange(const char *from, const char *to)
{
    size_t i = 0;

    while (i < MOST && names[i] != from)
        i++;
    if (i < MOST)
        names[i] = to;
}

int dft_temporary_create(const char *name, mode_t mode)
{
    sigset_t before;
    int fd, error;

    catch ();
    begin(&before);
    fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    error = errno;
    owner = getpid();
    if (fd >= 0)
        exchange(NULL, name);
    end(&before);
    return fd < 0 ? -error : fd;
}

void dft_temporary_forget(const char *name)
{
    sigset_t before;

    begin(&before);
    exchange(name, NULL);
    end(&before);
}
