/* Functions of instrumented programs as regions. */
#ifndef DFT_FUNCTION_H
#define DFT_FUNCTION_H

#include <stdint.h>

/* Constructor only. */
void dft_function_init(void);

/* What addresses mean has changed (a library was unloaded), or nobody has their names (a forked child). */
void dft_function_forget(void);

/* The id of the name of an address of code, whose text the process has recorded. */
struct dft_thread;
uint64_t dft_function_id(struct dft_thread *self, uint64_t address);

#endif
