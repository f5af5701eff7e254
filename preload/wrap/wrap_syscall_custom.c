/* SPDX-License-Identifier: MIT */
/* The rows of syscalls.def that are written by hand, but for those of processes: what needs more
 * than a table can say, with the same functions as the wrappers of the C library's functions have
 * (wrap_special.h, wrap_maps.h). */
#include "loader/resolve.h"

#include <fcntl.h>
#include <linux/openat2.h>

#include "probe/convert.h"
#include "probe/probe.h"
#include "store/tracefile.h"
#include "wrap/wrap_maps.h"
#include "wrap/wrap_special.h"
#include "wrap/wrap_syscall.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

/* Flags and mode lie in the program's memory, which the kernel has read when the call succeeds;
 * else that is to be checked. */
CUSTOM(SYS_openat2)
{
    struct dft_call_args args = DFT_ARGS(.dirfd = a0, .path = (char *)a1);
    const struct open_how *how = (const struct open_how *)a2;
    struct dft_probe probe;
    long result;

    if (!dft_probe_begin(&probe, DFT_CALL_openat2, DFT_OP_OPEN, &args, DFT_ON_POSIX))
        return REAL(ARGUMENTS);
    result = REAL(ARGUMENTS);
    if (result >= 0 || (dft_sys_can_read(&how->flags) && dft_sys_can_read(&how->mode))) {
        args.flags = (int)how->flags;
        args.mode = (mode_t)how->mode;
    }
    dft_finish(&probe, DFT_CALL_openat2, DFT_OP_OPEN, &args, result, 0);
    return result;
}

static int make_close_range(unsigned first, unsigned last, int flags)
{
    return (int)REAL(SYS_close_range, first, last, flags);
}

CUSTOM(SYS_close_range)
{
    return dft_close_many((unsigned)a0, (unsigned)a1, (int)a2, make_close_range);
}

#ifdef SYS_dup2
static int make_dup2(int fd, int fd2, int flags)
{
    (void)flags;
    return (int)REAL(SYS_dup2, fd, fd2);
}

CUSTOM(SYS_dup2)
{
    return dft_duplicate(DFT_CALL_dup2, (int)a0, (int)a1, 0, make_dup2);
}
#endif

static int make_dup3(int fd, int fd2, int flags)
{
    return (int)REAL(SYS_dup3, fd, fd2, flags);
}

CUSTOM(SYS_dup3)
{
    return dft_duplicate(DFT_CALL_dup3, (int)a0, (int)a1, (int)a2, make_dup3);
}

static int make_fcntl(int fd, int command, long argument)
{
    return (int)REAL(SYS_fcntl, fd, command, argument);
}

CUSTOM(SYS_fcntl)
{
    return dft_control((int)a0, (int)a1, a2, make_fcntl);
}

static ssize_t make_sendfile(int out_fd, int in_fd, off_t *offset, size_t size)
{
    return REAL(SYS_sendfile, out_fd, in_fd, offset, size);
}

CUSTOM(SYS_sendfile)
{
    return dft_sendfile((int)a0, (int)a1, (off_t *)a2, (size_t)a3, make_sendfile);
}

#define TRANSFER(name)                                                                                                 \
    static ssize_t make_##name(int in_fd, off_t *in_offset, int out_fd, off_t *out_offset, size_t size,                \
                               unsigned flags)                                                                         \
    {                                                                                                                  \
        return REAL(SYS_##name, in_fd, in_offset, out_fd, out_offset, size, flags);                                    \
    }                                                                                                                  \
    CUSTOM(SYS_##name)                                                                                                 \
    {                                                                                                                  \
        const struct dft_transfer what = {(int)a0, (off_t *)a1, (int)a2, (off_t *)a3, (size_t)a4, (unsigned)a5};       \
                                                                                                                       \
        return dft_transfer(DFT_CALL_##name, DFT_CALL_##name##_written, &what, make_##name);                           \
    }

TRANSFER(copy_file_range)
TRANSFER(splice)

static int make_ioctl(int fd, unsigned long request, void *argument)
{
    return (int)REAL(SYS_ioctl, fd, request, argument);
}

CUSTOM(SYS_ioctl)
{
    return dft_ioctl((int)a0, (unsigned long)a1, (void *)a2, make_ioctl);
}

static int make_chroot(const char *path)
{
    return (int)REAL(SYS_chroot, path);
}

static int make_unshare(int flags)
{
    return (int)REAL(SYS_unshare, flags);
}

CUSTOM(SYS_unshare)
{
    return dft_unshare((int)a0, make_unshare);
}

CUSTOM(SYS_chroot)
{
    return dft_chroot((const char *)a0, make_chroot);
}

CUSTOM(SYS_recvmsg)
{
    const struct msghdr *message = (const struct msghdr *)a1;
    long result;

    if (dft_tracefile_hides((int)a0))
        return -1;
    dft_tracefile_expect_many();
    result = REAL(ARGUMENTS);
    if (result >= 0)
        dft_forget_received(message);
    return result;
}

CUSTOM(SYS_recvmmsg)
{
    const struct mmsghdr *messages = (const struct mmsghdr *)a1;
    long result;

    if (dft_tracefile_hides((int)a0))
        return -1;
    dft_tracefile_expect_many();
    result = REAL(ARGUMENTS);
    for (long i = 0; i < result; i++)
        dft_forget_received(&messages[i].msg_hdr);
    return result;
}

static void *make_mmap(void *address, size_t length, int prot, int flags, int fd, off_t offset)
{
    return (void *)REAL(SYS_mmap, address, length, prot, flags, fd, offset);
}

/* Is this what an allocator's own mmap() makes of the program's? That is in flight then, with this
 * descriptor. */
static int is_within_mmap(int fd)
{
    const struct dft_thread *self = dft_self;

    if (!self || !*dft_generation)
        return 0;
    return (atomic_load_explicit(&self->home->flight_call, memory_order_relaxed) & DFT_SLOT_CALL_MASK) ==
               DFT_CALL_mmap &&
           self->home->flight_fd == fd;
}

CUSTOM(SYS_mmap)
{
    if (is_within_mmap((int)a4))
        return REAL(ARGUMENTS);
    return (long)dft_map((void *)a0, (size_t)a1, (int)a2, (int)a3, (int)a4, a5, make_mmap);
}

static int make_munmap(void *address, size_t length)
{
    return (int)REAL(SYS_munmap, address, length);
}

CUSTOM(SYS_munmap)
{
    return dft_unmap((void *)a0, (size_t)a1, make_munmap);
}

static void *make_mremap(void *old, size_t old_size, size_t size, int flags, void *address)
{
    return (void *)REAL(SYS_mremap, old, old_size, size, flags, address);
}

CUSTOM(SYS_mremap)
{
    return (long)dft_remap((void *)a0, (size_t)a1, (size_t)a2, (int)a3, (void *)a4, make_mremap);
}

static int make_remap_file_pages(void *address, size_t size, int prot, size_t page, int flags)
{
    return (int)REAL(SYS_remap_file_pages, address, size, prot, page, flags);
}

CUSTOM(SYS_remap_file_pages)
{
    return dft_remap_pages((void *)a0, (size_t)a1, (int)a2, (size_t)a3, (int)a4, make_remap_file_pages);
}

#define ON_MAPPED(name, how)                                                                                           \
    static int make_##name(void *address, size_t length, int flags)                                                    \
    {                                                                                                                  \
        return (int)REAL(SYS_##name, address, length, flags);                                                          \
    }                                                                                                                  \
    CUSTOM(SYS_##name)                                                                                                 \
    {                                                                                                                  \
        return dft_on_mapped(DFT_CALL_##name, (void *)a0, (size_t)a1, (int)(how), make_##name);                        \
    }

ON_MAPPED(msync, a2)
ON_MAPPED(madvise, a2)
ON_MAPPED(mlock, 0)
ON_MAPPED(mlock2, a2)
ON_MAPPED(munlock, 0)

#define ASYNCHRONOUS(name)                                                                                             \
    CUSTOM(SYS_##name)                                                                                                 \
    {                                                                                                                  \
        const long arguments[6] = {a0, a1, a2, a3, a4, a5};                                                            \
                                                                                                                       \
        return dft_libaio_syscall(number, arguments);                                                                  \
    }

ASYNCHRONOUS(io_setup)
ASYNCHRONOUS(io_destroy)
ASYNCHRONOUS(io_submit)
ASYNCHRONOUS(io_cancel)
ASYNCHRONOUS(io_getevents)
ASYNCHRONOUS(io_pgetevents)

/* A call that has an event, and makes a descriptor that is not followed. */
CUSTOM(SYS_io_uring_setup)
{
    const struct dft_call_args args = DFT_ARGS(.system = 1);
    struct dft_probe probe;
    long result;

    if (!dft_probe_begin(&probe, DFT_CALL_io_uring_setup, DFT_OP_OTHER, &args, DFT_ON_POSIX))
        return REAL(ARGUMENTS);
    result = REAL(ARGUMENTS);
    if (result >= 0 && !dft_has_other_files()) {
        dft_fd_bind_untraced((int)result);
        dft_tracefile_meet((int)result);
    }
    dft_finish(&probe, DFT_CALL_io_uring_setup, DFT_OP_OTHER, &args, result, 0);
    return result;
}
