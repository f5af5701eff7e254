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

/* The program's path; "" where the path cannot be found. */
const char *dft_process_exe(void);

/* Identifies the owner in the head of a live file: the process, where its pid names it, and its
 * trace. `file` is the live file itself. dft_process_lock is held. */
struct dft_live;
struct dft_ourfile;
void dft_process_identify(struct dft_live *live, const struct dft_ourfile *file);

/* Notes that something could not be done as usual. Any thread. */
enum dft_process_note {
    DFT_NOTE_NO_LIVEFILE,
    DFT_NOTE_PLAIN_RINGS,
    DFT_NOTE_CLOCKS,
    DFT_NOTE_NOT_STAGED,
    DFT_NOTE_REMOVED,
    /* of what is loaded, and stays so in forked children */
    DFT_NOTE_SECOND_COPY,
    DFT_NOTE_DEEPBIND,
    DFT_NOTE_HANDLE
};
void dft_process_note(enum dft_process_note note);
/* A line that stays valid (format/notes.h). Constructor only. */
void dft_process_note_text(const char *line);
/* Do notes tell that calls are unseen? Then a process without an event leaves a trace, too. */
int dft_process_has_unseen(void);

/* What the process is among those of its job, as it says itself. Signals blocked. */
void dft_process_set_role(const char *name);
/* There is something new to write about the process: dft_process_describe() writes it. Any thread. */
void dft_process_changed(void);
/* In a forked child. No block has described the child yet. is_paused: as for dft_kept_forked. */
void dft_process_untold(int is_paused);

#endif
