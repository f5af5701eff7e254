/* SPDX-License-Identifier: MIT */
/* What describes this process in its trace: the PROCESS, CLOCK and END blocks. */
#ifndef DFT_PROCESS_H
#define DFT_PROCESS_H

#include "os/self.h"
#include "format/format.h"

/* A process that ran in this one's memory, once it is over. */
struct dft_process_child {
    uint64_t key;
    uint64_t start_ns; /* Unix ns */
    uint64_t events;   /* that it has recorded */
    uint64_t end_ns;   /* Unix ns; 0: no end was seen */
    uint32_t pid;      /* 0: not known yet */
    enum dft_ending how;
    int status;
};

/* Signals blocked. They return 0, or -errno: it could not be written. */
int dft_process_write_start(void);
/* `end` has how the process ends, and what its threads and calls have counted; the rest is filled in. */
struct dft_end;
int dft_process_write_end(struct dft_end *end);
int dft_process_write_child(const struct dft_process_child *child);
/* Writes the start if that was not possible so far and seems to be now, or if there is something new to note. */
void dft_process_describe(void);

/* The program's path; "" where it cannot be found. */
const char *dft_process_exe(void);

/* Says in the head of a live file, which is this file, whose it is: the process, where its pid means it,
 * and its trace. dft_process_lock held. */
struct dft_live;
struct dft_ourfile;
void dft_process_identify(struct dft_live *live, const struct dft_ourfile *file);

/* What could not be done as usual. Any thread. */
enum dft_process_note { DFT_NOTE_NO_LIVEFILE, DFT_NOTE_PLAIN_RINGS, DFT_NOTE_CLOCKS };
void dft_process_note(enum dft_process_note note);
/* In a forked child: nothing has been told of it. */
void dft_process_untold(void);

#endif
