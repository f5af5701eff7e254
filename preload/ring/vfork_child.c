/* SPDX-License-Identifier: MIT */
/* Owns the state of a child that runs in its parent's memory while the parent waits. */
#include "ring/vfork_child.h"

#include "os/clock.h"
#include "format/live_format.h"
#include "format/format.h"
#include "format/hash.h"
#include "os/self.h"
#include "os/sys.h"

static __thread struct dft_vfork_child *current __attribute__((tls_model("initial-exec")));

static uint64_t now_ns(void)
{
    return dft_clock_monotonic_ns() + (uint64_t)dft_clock_offset;
}

void dft_vfork_child_begin(struct dft_vfork_child *child)
{
    const uint64_t unlike[] = {dft_key, dft_ticks(), (uintptr_t)child};

    *child = (struct dft_vfork_child){.before = current,
                                      .mark = dft_vfork_mark,
                                      .process = {.key = dft_name_id(unlike, sizeof unlike), .start_ns = now_ns()}};
    current = child;
    dft_vfork_mark = DFT_MARK_VFORK;
}

void dft_vfork_child_end(struct dft_vfork_child *child, int64_t pid)
{
    struct dft_signals before;

    current = child->before;
    dft_vfork_mark = child->mark;
    if (pid <= 0 || !child->process.events || dft_is_sandboxed())
        return;
    child->process.pid = (uint32_t)pid;
    if (child->process.exit_kind == DFT_ENDING_UNKNOWN) { /* neither an exit nor an exec */
        child->process.exit_kind = DFT_ENDING_KILLED;
        child->process.end_ns = now_ns();
    }
    before = dft_signals_block();
    dft_process_write_child(&child->process);
    dft_signals_restore(before);
}

/* A shared-TLS child is no such child, and neither is the thread that shares its memory with it. */
static struct dft_vfork_child *find(void)
{
    return dft_vfork_mark && dft_vfork_mark != DFT_MARK_SHARED_TLS && dft_is_vfork_child() ? current : NULL;
}

void dft_vfork_child_know(void)
{
    struct dft_vfork_child *child = find();
    long pid = child && !child->process.pid ? dft_sys_getpid() : 0;

    if (pid > 0)
        child->process.pid = (uint32_t)pid;
}

struct dft_vfork_child *dft_vfork_child_sign(struct dft_vfork_item *item)
{
    struct dft_vfork_child *child = find();

    dft_vfork_child_know();
    if (child)
        *item = (struct dft_vfork_item){DFT_ITEM_CHILD, child->process.key, child->process.pid};
    return child;
}

int dft_vfork_child_ends(enum dft_ending exit_kind, int status)
{
    struct dft_vfork_child *child = find();

    if (!child)
        return 0;
    child->process.exit_kind = exit_kind;
    child->process.status = status & 0xff;
    child->process.end_ns = exit_kind == DFT_ENDING_UNKNOWN ? 0 : now_ns();
    return 1;
}
