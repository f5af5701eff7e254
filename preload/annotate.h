/* Behind dftrace.h. */
#ifndef DFT_ANNOTATE_H
#define DFT_ANNOTATE_H

/* Lets programs see that annotations are recorded. */
void dft_annotate_enable(void);

/* Ends the open regions of the calling thread, which ends, or its process: `what` becomes their argument "ended_by". */
struct dft_thread;
void dft_annotate_end_all(struct dft_thread *self, const char *what);

#endif
