/* SPDX-License-Identifier: MIT */
/* What makes a wrapper of each row of calls.def, for calls_*.c: each takes one part of the table. */
#ifndef DFT_WRAP_H
#define DFT_WRAP_H

#include "wrap/wrapper.h"

#include <fcntl.h>

#include "probe/convert.h"
#include "probe/probe.h"
#include "probe/burst.h"
#include "store/tracefile.h"

#define IS_POINTER(type) (__builtin_classify_type((type)0) == 5)

/* Nobody knows how many bytes wide text has in the buffer. */
#define MAY_BE_QUICK(op, args) ((args).run && !(args).wide && !((args).measured && op != DFT_OP_FGETS))

#define QUICK(args)                                                                                                    \
    {                                                                                                                  \
        .stream = (args).stream, .text = (args).character ? NULL : (args).text, .size = (args).size,                   \
        .newline = (args).newline, .character = (args).character, .measured = (args).measured                          \
    }

/* Calls of no interest go straight on, from a function that needs no stack for it; all others take
 * the second. The real function is looked up before the clock is read: the first time it has to be
 * found. */
#define WRAP(wrapper, number, op, type, name, prototype, arguments, make_call, on, ...)                                \
    static __attribute__((noinline)) type dft_traced_##name prototype                                                  \
    {                                                                                                                  \
        const struct dft_call_args args = DFT_ARGS(__VA_ARGS__);                                                       \
        type(*const real) prototype = DFT_REAL(name);                                                                  \
        struct dft_probe probe;                                                                                        \
        type result;                                                                                                   \
        int before;                                                                                                    \
                                                                                                                       \
        if (dft_tracefile_hides_first(op, args.fd)) {                                                                  \
            dft_hidden(number, op, &args);                                                                             \
            return (type)-1;                                                                                           \
        }                                                                                                              \
        if (!dft_probe_begin(&probe, number, op, &args, on)) {                                                         \
            struct dft_not_open refused;                                                                               \
                                                                                                                       \
            if (args.fd >= 0 && dft_tracefile_hides(args.fd)) {                                                        \
                dft_hidden(number, op, &args);                                                                         \
                return (type)(intptr_t)(IS_POINTER(type) ? 0 : args.returns_error ? EBADF : -1);                       \
            }                                                                                                          \
            dft_not_open_begin(&refused, &args);                                                                       \
            result = real arguments;                                                                                   \
            dft_not_open_end(&refused, number, op, &args, (intptr_t)result, IS_POINTER(type));                         \
            return result;                                                                                             \
        }                                                                                                              \
        before = dft_may_meet_ours(op) ? errno : 0;                                                                    \
        result = real arguments;                                                                                       \
        if (dft_meets_ours(op, (intptr_t)result, IS_POINTER(type), before))                                            \
            result = real arguments;                                                                                   \
        dft_finish(&probe, number, op, &args, (intptr_t)result, IS_POINTER(type));                                     \
        return result;                                                                                                 \
    }                                                                                                                  \
    wrapper(type, name, prototype)                                                                                     \
    {                                                                                                                  \
        const struct dft_call_args args = DFT_ARGS(__VA_ARGS__);                                                       \
                                                                                                                       \
        if (MAY_BE_QUICK(op, args)) {                                                                                  \
            struct dft_burst_call quick = QUICK(args);                                                                 \
            type result;                                                                                               \
                                                                                                                       \
            if (__builtin_expect(!(dft_on & on), 0))                                                                   \
                return make_call;                                                                                      \
            quick.word = dft_fd_word(dft_stream_fd(args.stream));                                                      \
            if (quick.word & DFT_FD_UNTRACED)                                                                          \
                return make_call;                                                                                      \
            if (!dft_burst_is_quick(op, &quick))                                                                       \
                return dft_traced_##name arguments;                                                                    \
            result = make_call;                                                                                        \
            dft_burst_finish(number, op, &quick, (intptr_t)result, IS_POINTER(type));                                  \
            return result;                                                                                             \
        }                                                                                                              \
        if (dft_probe_is_idle(op, &args, on))                                                                          \
            return make_call;                                                                                          \
        return dft_traced_##name arguments;                                                                            \
    }

#define ON(op)           dft_on_bit(DFT_OP_##op)
#define CALL(name, list) DFT_REAL(name) list

#define DFT_CALL(category, op, type, name, prototype, arguments, ...)                                                  \
    WRAP(WRAPPER, DFT_CALL_##name, DFT_OP_##op, type, name, prototype, arguments, CALL(name, arguments), ON(op),       \
         __VA_ARGS__)

#define DFT_ENTRY(event, op, type, name, prototype, arguments, ...)                                                    \
    WRAP(WRAPPER, DFT_CALL_##event, DFT_OP_##op, type, name, prototype, arguments, CALL(name, arguments), ON(op),      \
         __VA_ARGS__)

#define DFT_OLDER(event, op, type, name, version, newer, prototype, arguments, ...)                                    \
    WRAP(VERSIONED_WRAPPER, DFT_CALL_##event, DFT_OP_##op, type, name, prototype, arguments, CALL(name, arguments),    \
         ON(op), __VA_ARGS__)                                                                                          \
    VERSION(dft_wrap_##name, event, version)

#define DFT_MODE(category, op, type, name, prototype, arguments, ...)                                                  \
    WRAPPER(type, name, prototype)                                                                                     \
    {                                                                                                                  \
        struct dft_probe probe;                                                                                        \
        mode_t mode = 0;                                                                                               \
        type result;                                                                                                   \
        int before;                                                                                                    \
                                                                                                                       \
        if (flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE) {                                                     \
            va_list list;                                                                                              \
                                                                                                                       \
            va_start(list, flags);                                                                                     \
            mode = va_arg(list, mode_t);                                                                               \
            va_end(list);                                                                                              \
        }                                                                                                              \
        {                                                                                                              \
            const struct dft_call_args args = DFT_ARGS(__VA_ARGS__);                                                   \
            type(*const real) prototype = DFT_REAL(name);                                                              \
                                                                                                                       \
            if (!dft_probe_begin(&probe, DFT_CALL_##name, DFT_OP_##op, &args, ON(op)))                                 \
                return real arguments;                                                                                 \
            before = errno;                                                                                            \
            result = real arguments;                                                                                   \
            if (dft_meets_ours(DFT_OP_##op, result, 0, before))                                                        \
                result = real arguments;                                                                               \
            dft_finish(&probe, DFT_CALL_##name, DFT_OP_##op, &args, result, 0);                                        \
        }                                                                                                              \
        return result;                                                                                                 \
    }

#define FORMAT(number, op, name, prototype, last, vname, arguments, ...)                                               \
    WRAPPER(int, name, prototype)                                                                                      \
    {                                                                                                                  \
        const struct dft_call_args args = DFT_ARGS(__VA_ARGS__);                                                       \
        __typeof__(dft_real.vname) real = DFT_REAL(vname);                                                             \
        struct dft_burst_call quick = QUICK(args);                                                                     \
        struct dft_not_open refused;                                                                                   \
        struct dft_probe probe;                                                                                        \
        int result, traced, is_quick = 0;                                                                              \
        va_list list;                                                                                                  \
                                                                                                                       \
        if (MAY_BE_QUICK(op, args) && dft_on & dft_on_bit(op)) {                                                       \
            quick.word = dft_fd_word(dft_stream_fd(args.stream));                                                      \
            is_quick = !(quick.word & DFT_FD_UNTRACED) && dft_burst_is_quick(op, &quick);                              \
        }                                                                                                              \
        traced = !is_quick && dft_probe_begin(&probe, number, op, &args, dft_on_bit(op));                              \
        if (!traced && !is_quick)                                                                                      \
            dft_not_open_begin(&refused, &args);                                                                       \
        va_start(list, last);                                                                                          \
        result = real arguments;                                                                                       \
        va_end(list);                                                                                                  \
        if (is_quick)                                                                                                  \
            dft_burst_finish(number, op, &quick, result, 0);                                                           \
        else if (traced)                                                                                               \
            dft_finish(&probe, number, op, &args, result, 0);                                                          \
        else                                                                                                           \
            dft_not_open_end(&refused, number, op, &args, result, 0);                                                  \
        return result;                                                                                                 \
    }

#define DFT_FORMAT(category, op, name, ...)    FORMAT(DFT_CALL_##name, DFT_OP_##op, name, __VA_ARGS__)
#define DFT_FORMAT_ENTRY(event, op, name, ...) FORMAT(DFT_CALL_##event, DFT_OP_##op, name, __VA_ARGS__)

#define DFT_ALIAS(name, alias) ALIAS(name, alias)

#define DFT_CUSTOM(...)
#define DFT_CUSTOM_ALIAS(...)

#define DFT_RECLASSIFIED(...)
#define DFT_GATE(...)
#define DFT_VERSIONED(...)
#define DFT_EVENT(...)

#endif
