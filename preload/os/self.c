/* SPDX-License-Identifier: MIT */
/* Owns the state of the process and of the calling thread. */
#include "os/self.h"

#include "format/live_format.h"
#include "os/shared_tls.h"
#include "os/sys.h"

int dft_on;
int dft_late;
uint64_t dft_key, dft_parent_key;
uint32_t dft_pid;
struct dft_spin dft_process_lock;
struct dft_live *dft_live;
int dft_sandbox;
const char *dft_single = "";
uint32_t dft_too_large;
uint64_t dft_own_read, dft_own_written;

static uint32_t no_generation;
volatile uint32_t *dft_generation = &no_generation;

__thread struct dft_thread *dft_self __attribute__((tls_model("initial-exec")));
__thread uint32_t dft_vfork_mark __attribute__((tls_model("initial-exec")));
__thread uint32_t dft_own_files __attribute__((tls_model("initial-exec")));

/* The parent handles pending signals before it can clear the mark: SIGCHLD always arrives while the
 * parent waits. The pid tells parent and child apart. Where system calls are forbidden, the caller
 * is the child. */
int dft_is_vfork_child(void)
{
    if (dft_vfork_mark == DFT_MARK_OWN_FILES)
        return 0;
    return dft_vfork_mark == DFT_MARK_SHARED_TLS ? dft_shared_tls_is_child() : (uint32_t)dft_sys_getpid() != dft_pid;
}

int dft_is_sandboxed(void)
{
    const struct dft_task *task = dft_self_task();

    if (!dft_sandbox)
        return 0;
    if (dft_vfork_mark == DFT_MARK_SANDBOXED)
        return 1;
    return dft_sandbox & DFT_SANDBOX_THREAD && (!task || __atomic_load_n(&task->sandboxed, __ATOMIC_RELAXED));
}

void dft_sandbox_drop(void)
{
    if (*dft_generation && dft_live && dft_is_sandboxed())
        atomic_fetch_add_explicit(&dft_live->dropped[DFT_DROP_SANDBOX], 1, memory_order_relaxed);
}

int dft_sandbox_forked(void)
{
    if (!dft_is_sandboxed()) {
        dft_sandbox = 0; /* the child has only this thread */
        return 0;
    }
    if (dft_live) /* the parent's live file */
        atomic_fetch_add_explicit(&dft_live->dropped[DFT_DROP_SANDBOX], 1, memory_order_relaxed);
    dft_on = 0;
    return 1;
}
