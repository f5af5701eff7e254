/* The compressor of ISA-L in the traced process: igzip.h says how it is asked for. */
#ifndef DFT_IGZIP_MAPPED_H
#define DFT_IGZIP_MAPPED_H

#ifdef DFT_HAVE_ISAL
/* Constructor only: which file it is. */
void dft_igzip_init(void);
/* In a forked child. */
void dft_igzip_forked(void);
#else
static inline void dft_igzip_init(void) {}
static inline void dft_igzip_forked(void) {}
#endif

#endif
