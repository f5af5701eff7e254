/* SPDX-License-Identifier: MIT */
/* The blocks that describe this process in its trace: PROCESS, CLOCK and END. */
#ifndef DFT_PROCESS_H
#define DFT_PROCESS_H

#include "os/self.h"
#include "format/format.h"

/* A process that ran in this process's memory and has ended. */
struct dft_process_child {
    uint64_t key;
    uint64_t start_ns; /* Unix ns */
    uint64_t events;   /* number of recorded events */
    uint64_t end_ns;   /* Unix ns; 0: no end was seen */
    uint32_t pid;      /* 0: not known yet */
    enum dft_ending exit_kind;
    int status;
};

/* Signals blocked. These functions return 0, or -errno when the block could not be written. */
int dft_process_write_start(void);
/* The caller fills in how the process ends, and what its threads and calls have counted.
 * dft_process_write_end() fills in the rest of `end`. */
struct dft_end;
int dft_process_write_end(struct dft_end *end);
int dft_process_write_child(const struct dft_process_child *child);
/* Writes the start if no earlier attempt succeeded and a write seems possible now. Also writes when
 * there is something new to note. */
void dft_process_describe(void);

/* What the process is among those of its job, as it says itself. Signals blocked. */
void dft_process_set_role(const char *name);
/* In a forked child. No block has described the child yet. is_paused: as for dft_kept_forked. */
void dft_process_untold(int is_paused);

#endif
