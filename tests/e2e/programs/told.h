/* SPDX-License-Identifier: MIT */
/* A program that tells of each call what its event must say: one JSON line a call, in shared
 * memory, printed at the end.
 *
 *   DO(access, (path, R_OK), .file = path, .mode = R_OK)
 *   GET(realpath, (path, NULL), .file = path)             the same of a function that returns a pointer
 *   TELL(realpath, __realpath_chk, (...), ...)            the event has another name than the function
 *
 * Paths are relative to the folder that the program works in. Results and errors are those that the
 * program saw. */
#ifndef TOLD_H
#define TOLD_H

#include <errno.h>

struct told {
    const char *file, *file2; /* NULL: none; "" with outside: not compared */
    int fd;                   /* -1: reached by a path */
    long size, offset, mode, flags;
    int returns_error; /* the result is the error */
    int errno_tells;   /* -1 or NULL is a failure only when errno was set */
    long success;      /* what a pointer stands for, when there is one */
    int outside;       /* in no folder that is known here */
    int opened;        /* the file is known when it could be opened */
};

void told_begin(const char *root);
void told(const char *name, long result, int error, const struct told *what);
void told_print(void);

#define TOLD(...) (&(struct told){.fd = -1, .offset = -1, __VA_ARGS__})

#define TELL(name, function, arguments, ...)                                                                           \
    __extension__({                                                                                                    \
        long told_result;                                                                                              \
                                                                                                                       \
        errno = 0;                                                                                                     \
        told_result = (long)function arguments;                                                                        \
        told(#name, told_result, errno, TOLD(__VA_ARGS__));                                                            \
        told_result;                                                                                                   \
    })
#define DO(name, arguments, ...) TELL(name, name, arguments, __VA_ARGS__)

#define TELL_POINTER(name, function, arguments, ...)                                                                   \
    __extension__({                                                                                                    \
        const struct told *told_what = TOLD(__VA_ARGS__);                                                              \
        __typeof__(function arguments) told_pointer;                                                                   \
                                                                                                                       \
        errno = 0;                                                                                                     \
        told_pointer = function arguments;                                                                             \
        told(#name, told_pointer ? told_what->success : told_what->errno_tells && !errno ? 0 : -1, errno, told_what);  \
        told_pointer;                                                                                                  \
    })
#define GET(name, arguments, ...) TELL_POINTER(name, name, arguments, __VA_ARGS__)

#define NOTHING(name, arguments, ...) (name arguments, told(#name, 0, 0, TOLD(__VA_ARGS__)))

#endif
