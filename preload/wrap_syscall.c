/* The wrapper of syscall(): system calls of syscalls.def are recorded as the C library's functions of the same meaning are; all others
 * go straight on. The real syscall() makes every call, never the function of that meaning: syscall() is no cancellation point, and
 * passes its arguments on unchanged. */
#include "resolve.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>

#include "convert.h"
#include "probe.h"
#include "tracefile.h"
#include "wrap_maps.h"
#include "wrap_prctl.h"
#include "wrap_special.h"

#pragma GCC diagnostic ignored "-Woverride-init"
#if defined(__clang__)
#pragma clang diagnostic ignored "-Winitializer-overrides"
#endif

/* Six arguments always: the C library's own takes as many, from registers and the stack, whether they were given or not. */
#define PARAMETERS long number, long a0, long a1, long a2, long a3, long a4, long a5
#define ARGUMENTS  number, a0, a1, a2, a3, a4, a5
#define REAL       DFT_REAL(syscall)

#define DFT_SYSCALL_EVENT(...)

/* --- calls that a row describes ----------------------------------------------------------------------------------- */

#define DFT_OPEN_MODE(flags, mode) ((flags)&O_CREAT || ((flags)&O_TMPFILE) == O_TMPFILE ? (mode_t)(mode) : 0)

struct meaning {
    enum dft_call_number call;
    enum dft_op op;
    struct dft_call_args args;
};

/* The row of this number. */
static inline __attribute__((always_inline)) void describe(struct meaning *meaning, PARAMETERS)
{
    (void)a4;
    switch (number) {
#define DFT_SYSCALL(event, row_op, name, ...)                                                                          \
    case name: {                                                                                                       \
        const struct dft_call_args row = DFT_ARGS(__VA_ARGS__);                                                        \
                                                                                                                       \
        meaning->call = DFT_CALL_##event;                                                                              \
        meaning->op = DFT_OP_##row_op;                                                                                 \
        meaning->args = row;                                                                                           \
        return;                                                                                                        \
    }
#define DFT_SYSCALL_HAND(...)
#include <dftrace/syscalls.def>
#undef DFT_SYSCALL
#undef DFT_SYSCALL_HAND
    default:
        __builtin_unreachable(); /* dft_syscall_make has looked */
    }
}

/* As a wrapper of wrap.c, of which the call is known only now. */
static long make_row(PARAMETERS)
{
    struct meaning meaning;
    struct dft_probe probe;
    long result;

    describe(&meaning, ARGUMENTS);
    if (dft_tracefile_hides_first(meaning.op, meaning.args.fd))
        return -1;
    if (!dft_probe_begin(&probe, meaning.call, meaning.op, &meaning.args, dft_on_bit(meaning.op)))
        return meaning.args.fd >= 0 && dft_tracefile_hides(meaning.args.fd) ? -1 : REAL(ARGUMENTS);
    result = REAL(ARGUMENTS);
    dft_finish(&probe, meaning.call, meaning.op, &meaning.args, result, 0);
    return result;
}

/* --- by hand ------------------------------------------------------------------------------------------------------ */

#define HAND(name) static __attribute__((noinline)) long hand_##name(PARAMETERS)

/* Flags and mode lie in the program's memory, which the kernel has read when the call succeeds; else that is to be asked. */
HAND(SYS_openat2)
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

HAND(SYS_close_range)
{
    (void)number, (void)a3, (void)a4, (void)a5;
    return dft_close_many((unsigned)a0, (unsigned)a1, (int)a2, make_close_range);
}

#ifdef SYS_dup2
static int make_dup2(int fd, int fd2, int flags)
{
    (void)flags;
    return (int)REAL(SYS_dup2, fd, fd2);
}

HAND(SYS_dup2)
{
    (void)number, (void)a2, (void)a3, (void)a4, (void)a5;
    return dft_duplicate(DFT_CALL_dup2, (int)a0, (int)a1, 0, make_dup2);
}
#endif

static int make_dup3(int fd, int fd2, int flags)
{
    return (int)REAL(SYS_dup3, fd, fd2, flags);
}

HAND(SYS_dup3)
{
    (void)number, (void)a3, (void)a4, (void)a5;
    return dft_duplicate(DFT_CALL_dup3, (int)a0, (int)a1, (int)a2, make_dup3);
}

static int make_fcntl(int fd, int command, long argument)
{
    return (int)REAL(SYS_fcntl, fd, command, argument);
}

HAND(SYS_fcntl)
{
    (void)number, (void)a3, (void)a4, (void)a5;
    return dft_control((int)a0, (int)a1, a2, make_fcntl);
}

static void *make_mmap(void *address, size_t length, int prot, int flags, int fd, off_t offset)
{
    return (void *)REAL(SYS_mmap, address, length, prot, flags, fd, offset);
}

HAND(SYS_mmap)
{
    (void)number;
    return (long)dft_map((void *)a0, (size_t)a1, (int)a2, (int)a3, (int)a4, a5, make_mmap);
}

static int make_munmap(void *address, size_t length)
{
    return (int)REAL(SYS_munmap, address, length);
}

HAND(SYS_munmap)
{
    (void)number, (void)a2, (void)a3, (void)a4, (void)a5;
    return dft_unmap((void *)a0, (size_t)a1, make_munmap);
}

static void *make_mremap(void *old, size_t old_size, size_t size, int flags, void *address)
{
    return (void *)REAL(SYS_mremap, old, old_size, size, flags, address);
}

HAND(SYS_mremap)
{
    (void)number, (void)a5;
    return (long)dft_remap((void *)a0, (size_t)a1, (size_t)a2, (int)a3, (void *)a4, make_mremap);
}

static int make_remap_file_pages(void *address, size_t size, int prot, size_t page, int flags)
{
    return (int)REAL(SYS_remap_file_pages, address, size, prot, page, flags);
}

HAND(SYS_remap_file_pages)
{
    (void)number, (void)a5;
    return dft_remap_pages((void *)a0, (size_t)a1, (int)a2, (size_t)a3, (int)a4, make_remap_file_pages);
}

#define ON_MAPPED(name, how)                                                                                           \
    static int make_##name(void *address, size_t length, int flags)                                                    \
    {                                                                                                                  \
        return (int)REAL(SYS_##name, address, length, flags);                                                          \
    }                                                                                                                  \
    HAND(SYS_##name)                                                                                                   \
    {                                                                                                                  \
        (void)number, (void)a2, (void)a3, (void)a4, (void)a5;                                                          \
        return dft_on_mapped(DFT_CALL_##name, (void *)a0, (size_t)a1, (int)(how), make_##name);                        \
    }

ON_MAPPED(msync, a2)
ON_MAPPED(madvise, a2)
ON_MAPPED(mlock, 0)
ON_MAPPED(mlock2, a2)
ON_MAPPED(munlock, 0)

#define ASYNCHRONOUS(name)                                                                                             \
    HAND(SYS_##name)                                                                                                   \
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
HAND(SYS_io_uring_setup)
{
    const struct dft_call_args args = DFT_ARGS(.system = 1);
    struct dft_probe probe;
    long result;

    if (!dft_probe_begin(&probe, DFT_CALL_io_uring_setup, DFT_OP_OTHER, &args, DFT_ON_POSIX))
        return REAL(ARGUMENTS);
    result = REAL(ARGUMENTS);
    if (result >= 0 && !dft_in_vfork_child())
        dft_fd_bind_untraced((int)result);
    dft_finish(&probe, DFT_CALL_io_uring_setup, DFT_OP_OTHER, &args, result, 0);
    return result;
}

/* Filters: libseccomp sets them so. With TSYNC a positive result is a thread that could not follow, unless a listener was asked for. */
HAND(SYS_seccomp)
{
    int all = a0 == SECCOMP_SET_MODE_FILTER && a1 & SECCOMP_FILTER_FLAG_TSYNC, listens = (a1 & (1 << 3)) != 0;
    enum dft_sandbox_kind kind = a0 == SECCOMP_SET_MODE_STRICT ? DFT_SANDBOX_STRICT
                                 : all                         ? DFT_SANDBOX_FILTER_ALL
                                                               : DFT_SANDBOX_FILTER;
    struct dft_probe probe;
    long result;

    if (a0 != SECCOMP_SET_MODE_STRICT && a0 != SECCOMP_SET_MODE_FILTER)
        return REAL(ARGUMENTS);
    dft_forbid_begin(&probe, kind);
    result = REAL(ARGUMENTS);
    dft_forbid_end(&probe, DFT_CALL_seccomp, kind, (int)a0, result, result < 0 || (all && result > 0 && !listens));
    return result;
}

static int make_prctl(int option, const unsigned long a[4])
{
    return (int)REAL(SYS_prctl, option, a[0], a[1], a[2], a[3]);
}

HAND(SYS_prctl)
{
    const unsigned long a[4] = {(unsigned long)a1, (unsigned long)a2, (unsigned long)a3, (unsigned long)a4};

    (void)number, (void)a5;
    return dft_prctl((int)a0, a, make_prctl);
}

/* --- the function: its entry is in syscall.S ------------------------------------------------------------------------ */

#define DFT_SYSCALL_NUMBERS 512

/* Those that have a row. */
extern const uint8_t dft_syscall_rows[DFT_SYSCALL_NUMBERS];
const uint8_t dft_syscall_rows[DFT_SYSCALL_NUMBERS] = {
#define DFT_SYSCALL(event, op, name, ...) [name] = 1,
#define DFT_SYSCALL_HAND                  DFT_SYSCALL
#include <dftrace/syscalls.def>
#undef DFT_SYSCALL
#undef DFT_SYSCALL_HAND
};

/* Where the real function is to be found. */
extern long (*const *const dft_syscall_real)(long number, ...);
long (*const *const dft_syscall_real)(long number, ...) = &dft_real.syscall;

long dft_syscall_make(PARAMETERS);
long dft_syscall_make(PARAMETERS)
{
    if (!dft_on)
        return REAL(ARGUMENTS);
    switch (number) {
#define DFT_SYSCALL(event, op, name, ...)                                                                              \
    case name:                                                                                                         \
        return make_row(ARGUMENTS);
#define DFT_SYSCALL_HAND(event, op, name)                                                                              \
    case name:                                                                                                         \
        return hand_##name(ARGUMENTS);
#include <dftrace/syscalls.def>
    default:
        return REAL(ARGUMENTS);
    }
}

#if !defined(__x86_64__)
/* All arguments are in registers. */
__attribute__((visibility("default"))) long dft_wrap_syscall(PARAMETERS) __asm__("syscall");
long dft_wrap_syscall(PARAMETERS)
{
    if (dft_real.syscall && (!dft_on || (unsigned long)number >= DFT_SYSCALL_NUMBERS || !dft_syscall_rows[number]))
        return dft_real.syscall(ARGUMENTS);
    return dft_syscall_make(ARGUMENTS);
}
#endif
