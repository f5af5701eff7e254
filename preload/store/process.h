/* What describes this process in its trace: the PROCESS, CLOCK and END blocks. */
#ifndef DFT_PROCESS_H
#define DFT_PROCESS_H

#include "format/format.h"

/* Signals blocked. They return 0, or -errno: it could not be written. */
int dft_process_write_start(void);
int dft_process_write_end(enum dft_ending how, int status);
/* The whole description of a child that ran in this process's memory, once it is over. */
struct dft_vfork_child;
int dft_process_write_child(const struct dft_vfork_child *child);
/* Writes the start if that was not possible so far and seems to be now, or if there is something new to note. */
void dft_process_describe(void);

/* The program's path; "" where it cannot be found. */
const char *dft_process_exe(void);

/* Says in the head of a live file, which is this device and inode, whose it is: the process, where its pid means it,
 * and its trace. dft_process_lock held. */
struct dft_live;
void dft_process_identify(struct dft_live *live, uint64_t device, uint64_t inode);

/* What could not be done as usual. Any thread. */
enum dft_process_note { DFT_NOTE_NO_LIVEFILE, DFT_NOTE_PLAIN_RINGS, DFT_NOTE_CLOCKS };
void dft_process_note(enum dft_process_note note);
/* In a forked child: nothing has been told of it. */
void dft_process_untold(void);

#endif
