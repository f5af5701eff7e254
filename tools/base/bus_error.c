/* SPDX-License-Identifier: MIT */
/* SIGBUS in place of a page of a mapped file. */
#include "base/bus_error.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static uintptr_t page_bytes;
static _Thread_local volatile unsigned long pages;

/* mmap is a plain system call, so it may stand here. The page cannot be executed, so code that is lost ends the
 * program all the same. */
static void on_bus(int number, siginfo_t *info, void *context)
{
    char *page = (char *)info->si_addr - ((uintptr_t)info->si_addr & (page_bytes - 1));
    int error = errno;

    (void)context;
    if (info->si_code <= 0 ||
        mmap(page, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) {
        signal(number, SIG_DFL); /* nobody's fault of reading: end as without a handler */
        raise(number);
    }
    pages++;
    errno = error;
}

void dft_bus_catch(void)
{
    struct sigaction action = {.sa_sigaction = on_bus, .sa_flags = SA_SIGINFO};

    page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
}

unsigned long dft_bus_pages(void)
{
    return pages;
}
