/* SPDX-License-Identifier: MIT */
/* Wrappers around calls that make descriptors which no row can forget: two through pointers, any
 * number in messages; and around one that writes nobody knows how much. */
#include "wrap/wrapper.h"

#include <execinfo.h>

#include "probe/convert.h"
#include "probe/probe.h"
#include "store/tracefile.h"
#include "wrap/wrap_special.h"

void dft_forget_made(int fd)
{
    if (!dft_on || dft_has_other_files())
        return;
    dft_fd_drop(dft_fd_unbind(fd));
    dft_tracefile_meet(fd);
}

WRAPPER(int, openpty,
        (int *amaster, int *aslave, char *name, const struct termios *terminal, const struct winsize *window))
{
    int result = DFT_REAL(openpty)(amaster, aslave, name, terminal, window);

    if (!result) {
        dft_forget_made(*amaster);
        dft_forget_made(*aslave);
    }
    return result;
}

WRAPPER(mqd_t, mq_open, (const char *name, int flags, ...))
{
    struct mq_attr *attributes = NULL;
    mode_t mode = 0;
    va_list list;
    mqd_t result;

    if (flags & O_CREAT) {
        va_start(list, flags);
        mode = va_arg(list, mode_t);
        attributes = va_arg(list, struct mq_attr *);
        va_end(list);
    }
    result = DFT_REAL(mq_open)(name, flags, mode, attributes);
    if (result >= 0)
        dft_forget_made(result);
    return result;
}

/* --- messages --------------------------------------------------------------------------------- */

/* Descriptors that came along (SCM_RIGHTS). What the kernel has filled in can be read. */
void dft_forget_received(const struct msghdr *message)
{
    const char *at = message->msg_control, *end = at + message->msg_controllen;

    while (at && (size_t)(end - at) >= sizeof(struct cmsghdr)) {
        const struct cmsghdr *part = (const struct cmsghdr *)(const void *)at;
        const char *data = at + CMSG_LEN(0);
        int fd;

        if (part->cmsg_len < CMSG_LEN(0) || part->cmsg_len > (size_t)(end - at))
            break;
        if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_RIGHTS)
            for (; data + sizeof fd <= at + part->cmsg_len; data += sizeof fd) {
                memcpy(&fd, data, sizeof fd);
                dft_forget_made(fd);
            }
        if (CMSG_ALIGN(part->cmsg_len) >= (size_t)(end - at))
            break;
        at += CMSG_ALIGN(part->cmsg_len);
    }
}

WRAPPER(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags))
{
    ssize_t result;

    if (dft_tracefile_hides(fd))
        return -1;
    dft_tracefile_expect_many();
    result = DFT_REAL(recvmsg)(fd, message, flags);
    if (result >= 0 && message->msg_controllen)
        dft_forget_received(message);
    return result;
}

WRAPPER(int, recvmmsg, (int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout))
{
    int result;

    if (dft_tracefile_hides(fd))
        return -1;
    dft_tracefile_expect_many();
    result = DFT_REAL(recvmmsg)(fd, messages, count, flags, timeout);
    for (int i = 0; i < result && i < (int)count; i++)
        if (messages[i].msg_hdr.msg_controllen)
            dft_forget_received(&messages[i].msg_hdr);
    return result;
}

/* --- backtraces ------------------------------------------------------------------------------- */

WRAPPER(void, backtrace_symbols_fd, (void *const *addresses, int count, int fd))
{
    const struct dft_call_args args = DFT_ARGS(.fd = fd);
    struct dft_probe probe;
    int traced;

    if (dft_tracefile_hides(fd))
        return;
    traced = dft_probe_begin(&probe, DFT_CALL_backtrace_symbols_fd, DFT_OP_OTHER, &args, DFT_ON_POSIX);
    DFT_REAL(backtrace_symbols_fd)(addresses, count, fd);
    if (!traced)
        return;
    if (probe.open)
        atomic_fetch_or_explicit(&probe.open->flags, DFT_OPEN_LOST, memory_order_relaxed);
    dft_end_fd(&probe, DFT_CALL_backtrace_symbols_fd, DFT_OP_OTHER, &args, 0, 0);
}
ALIAS(backtrace_symbols_fd, __backtrace_symbols_fd)
