/* Functions of instrumented programs as regions. */
#ifndef DFT_FUNCTION_H
#define DFT_FUNCTION_H

/* Constructor only. */
void dft_function_init(void);

/* What addresses mean has changed (a library was unloaded), or nobody has their names (a forked child). */
void dft_function_forget(void);

#endif
