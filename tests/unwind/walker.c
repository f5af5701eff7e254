/* SPDX-License-Identifier: MIT */
/* Preloaded into a program that oracle.c traces: walks its stack with the unwinder of
 * libdftrace.so. */
#include "walker.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "os/own.h"
#include "os/sys.h"
#include "unwind/unwind.h"

static struct walker_area area;

/* What the unwinder asks the rest of libdftrace.so. */
struct dft_own_calls dft_own;
int dft_sandbox;

int dft_is_sandboxed(void)
{
    return 0;
}

static int (*find_object)(void *address, struct dl_find_object *result);

static struct walker_frame describe(const struct dft_unwind_walk *walk)
{
    struct walker_frame frame = {.pc = walk->pc, .sp = walk->sp};
    uint64_t pc = walk->pc - !walk->is_exact;
    struct dl_find_object object;
    struct dft_unwind_row row;

    if (!find_object((void *)pc, &object) && object.dlfo_eh_frame && /* NOLINT: an address of code */
        !dft_unwind_find_row(object.dlfo_eh_frame, pc, &row)) {
        frame.has_table = 1;
        frame.sets_sp = !row.is_signal && row.rules[DFT_UNWIND_SP].kind != DFT_RULE_SAME;
    }
    return frame;
}

__attribute__((used)) static void walk_from_context(void)
{
    struct dft_unwind_walk walk;
    uint64_t count = 0;

    dft_unwind_begin(&walk, &area.context);
    do
        area.frames[count++] = describe(&walk);
    while (count < WALKER_FRAMES_MAX && !dft_unwind_step(&walk) && walk.pc);
    area.count = count;
}

void dft_walker_entry(void);
__asm__(".text\n"
        ".globl dft_walker_entry\n"
        ".hidden dft_walker_entry\n"
        "dft_walker_entry:\n"
        "    call walk_from_context\n"
        "    int3\n");

/* Tells the tracer where everything is, by a breakpoint. WALKER_OLD=1: as with a C library without
 * _dl_find_object. */
__attribute__((constructor)) static void report(void)
{
    *(void **)&find_object = dlsym(RTLD_DEFAULT, "_dl_find_object");
    if (!find_object || !getenv("WALKER_TRACED"))
        return;
    if (!getenv("WALKER_OLD"))
        dft_own.find_object = find_object;
    unsetenv("WALKER_TRACED"); /* programs that this one runs are not traced */
    __asm__ volatile("int3" : : "a"(dft_walker_entry), "b"(&area) : "memory");
}
