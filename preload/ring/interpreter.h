/* SPDX-License-Identifier: MIT */
/* Frames of an interpreter (Python) in call stacks. The interpreter's extension tells them. */
#ifndef DFT_INTERPRETER_H
#define DFT_INTERPRETER_H

#include <stdatomic.h>

#include "dftrace/api.h"
#include "thread/state.h"

#define DFT_INTERPRETER_LEAST 16u  /* a library's frames may lie above the program's line */
#define DFT_INTERPRETER_MAX   128u /* frames of one stack */
#define DFT_INTERPRETER_WORDS (2 * DFT_INTERPRETER_MAX + 1)

extern const struct dftrace_frames *_Atomic dft_interpreter DFT_HIDDEN; /* NULL: none so far */

/* Memory goes: pages that could be read perhaps no longer can. Before and behind the call. */
void dft_interpreter_forget_pages(void);
static inline void dft_interpreter_unmap(void)
{
    if (__builtin_expect(atomic_load_explicit(&dft_interpreter, memory_order_relaxed) != NULL, 0))
        dft_interpreter_forget_pages();
}

/* The api's set_frames. */
int dft_interpreter_set(const struct dftrace_frames *frames);

/* Does a frame at this address stand for frames of the interpreter? */
int dft_interpreter_is_loop(uint64_t address);

/* The ids of the names of the calling thread's frames, the innermost first, and a 0 after those of
 * each call of the interpreter's loop. Returns the number of words. */
uint32_t dft_interpreter_name_frames(struct dft_thread *self, uint64_t words[DFT_INTERPRETER_WORDS], uint32_t most);

#endif
