/* SPDX-License-Identifier: MIT */
/* Preloaded into dftmerge: something happens while it copies a stack. MEDDLE=interrupt: SIGINT to
 * dftmerge, while a thread of the program is stopped. MEDDLE=end: the program is killed before a
 * thread of it is attached to. */
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static int is_asked(const char *what)
{
    const char *value = getenv("MEDDLE");

    return value && !strcmp(value, what);
}

ssize_t process_vm_readv(pid_t pid, const struct iovec *here, unsigned long nhere, const struct iovec *there,
                         unsigned long nthere, unsigned long flags)
{
    if (is_asked("interrupt"))
        raise(SIGINT);
    return syscall(SYS_process_vm_readv, pid, here, nhere, there, nthere, flags);
}

long ptrace(enum __ptrace_request request, ...)
{
    va_list list;
    void *address, *data;
    pid_t pid;

    va_start(list, request);
    pid = va_arg(list, pid_t);
    address = va_arg(list, void *);
    data = va_arg(list, void *);
    va_end(list);
    if (request == PTRACE_SEIZE && is_asked("end")) {
        kill(pid, SIGKILL);
        while (!kill(pid, 0))
            usleep(1000);
    }
    return syscall(SYS_ptrace, request, pid, address, data);
}
