/* SPDX-License-Identifier: MIT */
/* What the tracer (oracle.c) and the library in the traced program (walker.c) tell each other. */
#ifndef DFT_WALKER_H
#define DFT_WALKER_H

#include <stdint.h>
#include <ucontext.h>

#define WALKER_FRAMES_MAX 256
#define WALKER_STACK      65536

struct walker_frame {
    uint64_t pc, sp;
    uint32_t has_table; /* 0: from here on an unwinder can only guess */
    uint32_t sets_sp;   /* the table says where the caller's stack pointer is: it is not the frame's address */
};

/* In the program's memory. The tracer writes `context`, and has a thread run dft_walker_entry on
 * `stack`. */
struct walker_area {
    ucontext_t context;
    uint64_t count;
    struct walker_frame frames[WALKER_FRAMES_MAX];
    _Alignas(64) char stack[WALKER_STACK];
};

#endif
