/* Behind dftrace.h. */
#ifndef DFT_ANNOTATE_H
#define DFT_ANNOTATE_H

/* Lets programs see that annotations are recorded. */
void dft_annotate_enable(void);

#endif
