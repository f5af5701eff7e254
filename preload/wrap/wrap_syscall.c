/* SPDX-License-Identifier: MIT */
/* The wrapper of syscall(): system calls of syscalls.def are recorded as the C library's functions
 * of the same meaning are; all others go straight on. The real syscall() makes every call, never
 * the function of that meaning: syscall() is no cancellation point, and passes its arguments on
 * unchanged. */
#include "loader/resolve.h"

#include <fcntl.h>

#include "probe/convert.h"
#include "probe/probe.h"
#include "store/tracefile.h"
#include "wrap/wrap_syscall.h"

#define DFT_SYSCALL_EVENT(...)

/* --- calls that a row describes --------------------------------------------------------------- */

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
#define DFT_SYSCALL_CUSTOM(...)
#include <dftrace/syscalls.def>
    default:
        __builtin_unreachable(); /* dft_syscall_make has looked */
    }
}

/* As a wrapper of wrap.h, of which the call is known only now. */
static long make_row(PARAMETERS)
{
    struct meaning meaning;
    struct dft_probe probe;
    struct dft_not_open refused;
    long result;
    int before;

    describe(&meaning, ARGUMENTS);
    if (dft_tracefile_hides_first(meaning.op, meaning.args.fd)) {
        dft_hidden(meaning.call, meaning.op, &meaning.args);
        return -1;
    }
    if (!dft_probe_begin(&probe, meaning.call, meaning.op, &meaning.args, dft_on_bit(meaning.op))) {
        if (meaning.args.fd >= 0 && dft_tracefile_hides(meaning.args.fd)) {
            dft_hidden(meaning.call, meaning.op, &meaning.args);
            return -1;
        }
        dft_not_open_begin(&refused, &meaning.args);
        result = REAL(ARGUMENTS);
        dft_not_open_end(&refused, meaning.call, meaning.op, &meaning.args, result, 0);
        return result;
    }
    before = errno;
    result = REAL(ARGUMENTS);
    if (dft_meets_ours(meaning.op, result, 0, before))
        result = REAL(ARGUMENTS);
    dft_finish(&probe, meaning.call, meaning.op, &meaning.args, result, 0);
    return result;
}

/* --- the function: its entry is in syscall.S -------------------------------------------------- */

#define DFT_SYSCALL_NUMBERS 512

/* 1: it has a row. 2: ask dft_syscall_is_plain() whether it may be used. */
extern const uint8_t dft_syscall_rows[DFT_SYSCALL_NUMBERS];
const uint8_t dft_syscall_rows[DFT_SYSCALL_NUMBERS] = {
#define DFT_SYSCALL_EVENT(...)
#define DFT_SYSCALL(event, op, name, ...) [name] = 1,
#define DFT_SYSCALL_CUSTOM                DFT_SYSCALL
#include <dftrace/syscalls.def>
    [SYS_clone] = 2,
    [SYS_clone3] = 2,
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
#define DFT_SYSCALL_EVENT(...)
#define DFT_SYSCALL(event, op, name, ...)                                                                              \
    case name:                                                                                                         \
        return make_row(ARGUMENTS);
#define DFT_SYSCALL_CUSTOM(event, op, name)                                                                            \
    case name:                                                                                                         \
        return dft_custom_##name(ARGUMENTS);
#include <dftrace/syscalls.def>
    default:
        return REAL(ARGUMENTS);
    }
}
