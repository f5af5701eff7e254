/* The order of things: what happens at load, at the first event, in a forked child, at exec and at the end. */
#ifndef DFT_LIFECYCLE_H
#define DFT_LIFECYCLE_H

#include <stdint.h>

#include "format/format.h"
#include "os/sys.h"

/* Tracing is on. 0 until the constructor has run, and for good when DFTRACER_ENABLE is off. */
extern int dft_on;
/* Zero in a forked child that has not noticed yet: a private page that the kernel wipes on fork. */
extern volatile uint32_t *dft_generation;
/* Set by the finaliser: whoever appends from now on drains at once. */
extern int dft_late;

extern uint64_t dft_key, dft_parent_key; /* process keys; 0: no parent known */
extern uint32_t dft_pid;

/* Creates the process's files at its first event. Signals blocked. Returns 0, -EAGAIN (now they cannot be had: for a while
 * dft_process_waits()), or -errno (nothing can be kept). */
int dft_process_start(void);
int dft_process_is_started(void);
int dft_process_waits(void);
/* At its end: whatever dft_process_waits() says, if events were lost for want of a trace. */
void dft_process_start_at_last(void);
/* An event of a thread that can have no state is counted as lost. */
void dft_process_drop(void);

/* In the child of a fork, before anything else there: fresh memory, a new key. Signals blocked, or in the fork wrapper. */
void dft_process_forked(void);
/* The same, unless a handler of pthread_atfork that did I/O was first. */
void dft_process_forked_once(void);

/* Before a process is made, in the parent: what is shared from now on. A child that does nothing but exec keeps only what
 * has no FD_CLOEXEC. */
enum dft_child { DFT_CHILD_STAYS, DFT_CHILD_EXECS };
void dft_process_forking(enum dft_child child);

/* Everything to the file; END; the live file goes. Called for exit, _exit and fatal signals (status: the signal), once; later events are written through. */
void dft_process_end(enum dft_ending how, int status);

/* exit or quick_exit was called with this status: the end is to come, behind the program's handlers. */
void dft_process_exiting(int status);

/* A call that ends the process within the C library may come back after all (daemon): what dft_process_end() did is undone. */
void dft_process_end_failed(void);

/* Before exec. Returns 1: after a failed one dft_process_exec_failed() goes on as before. */
int dft_process_exec(void);
void dft_process_exec_failed(void);

/* Can this file be executed, as far as access rights tell? dirfd: DFT_SEARCH_PATH for a file without a slash looks in PATH. */
int dft_process_can_run(int dirfd, const char *path);

/* Before a call that may forbid the calling thread (or all threads) system calls: what there is goes to the file, rings are laid in, and
 * no system call is made any more on its account; what does not fit is counted as DFT_DROP_SANDBOX. strict: nor can the
 * processor's clock be read (SECCOMP_MODE_STRICT takes it away). When the call failed, dft_process_sandbox_failed()
 * goes back. Calls nest: a program may add filter to filter. */
enum dft_sandbox_kind { DFT_SANDBOX_FILTER, DFT_SANDBOX_FILTER_ALL, DFT_SANDBOX_STRICT };
void dft_process_sandboxed(enum dft_sandbox_kind kind);
void dft_process_sandbox_failed(enum dft_sandbox_kind kind);

/* Guards the making of the process's files and the lists of states; no ring is made while it is held, but for the first
 * ones. Signals blocked. */
extern struct dft_spin dft_process_lock;

#endif
