/* SPDX-License-Identifier: MIT */
/* Owns call stacks. unwind.c finds the return addresses, quickly from its second visit to a place
 * on. A stack is a name like others: "STACK", NUL, and eight bytes for each frame, from the
 * innermost. The eight bytes are the id of that frame's name (names.c). So a stack costs its event
 * eight bytes, and its own text is written once.
 *
 * A signal handler may interrupt a capture. The handler's events then have no stack. */
#include "ring/stack.h"

#include <string.h>

#include "ring/interpreter.h"
#include "ring/names.h"
#include "os/clock.h"
#include "format/hash.h"
#include "settings/config.h"
#include "ring/ring.h"
#include "unwind/unwind.h"

#define FRAMES_MAX 128u
#define ALL_MAX    (FRAMES_MAX + DFT_INTERPRETER_MAX + 1)

uint32_t dft_stack_depth;

static uint64_t start_ticks, start_ns;
/* of an event that gets a stack; 0: not known yet, or all events */
static _Atomic uint64_t least_ticks;

/* Buffers of a capture. Each thread that captures has a page or two. */
struct dft_stack_capacity {
    uint64_t frames[FRAMES_MAX];
    uint64_t interpreter[DFT_INTERPRETER_WORDS];
    char text[6 + 8 * ALL_MAX];
};

void dft_stack_init(void)
{
    if (!dft_config.enable || !dft_config.stack)
        return;
    start_ticks = dft_ticks();
    start_ns = dft_clock_monotonic_ns();
    dft_stack_depth = dft_config.stack < FRAMES_MAX ? (uint32_t)dft_config.stack : FRAMES_MAX;
}

/* The length of a tick is the time since the start divided by the ticks. The value is kept once the
 * time reaches 10 ms. Earlier values are exact enough for any call so far. */
static int is_long_enough(uint64_t ticks)
{
    uint64_t least = atomic_load_explicit(&least_ticks, memory_order_relaxed), passed_ns;

    if (!dft_config.stack_min_us)
        return 1;
    if (least)
        return ticks >= least;
    passed_ns = dft_clock_monotonic_ns() - start_ns + 1;
    least =
        (uint64_t)((double)(dft_ticks() - start_ticks) * (double)dft_config.stack_min_us * 1000 / (double)passed_ns);
    if (passed_ns > 10000000)
        atomic_store_explicit(&least_ticks, least ? least : 1, memory_order_relaxed);
    return ticks >= least;
}

/* A capture under way lies above the caller on the stack. A capture that lies below was left by a
 * longjmp. */
static int is_busy(const struct dft_thread *self, uintptr_t here)
{
    return self->capturing && here < self->capturing;
}

static void put_frame(struct dft_stack_capacity *capacity, uint32_t *count, uint64_t id)
{
    memcpy(capacity->text + 6 + 8 * (size_t)(*count)++, &id, sizeof id);
}

/* An interpreter's frames stand in place of a frame of its loop. Those of loops beyond the depth
 * come last. Returns the number of frames. */
static uint32_t name_frames(struct dft_thread *self, struct dft_stack_capacity *capacity)
{
    uint32_t all = dft_unwind(capacity->frames, dft_stack_depth);
    uint32_t words = dft_interpreter_name_frames(self, capacity->interpreter, dft_stack_depth), n = 0, at = 0;

    for (uint32_t i = 0; i < all; i++) {
        if (at == words || !dft_interpreter_is_loop(capacity->frames[i])) {
            put_frame(capacity, &n, dft_names_of_code(self, capacity->frames[i]));
            continue;
        }
        while (at < words && capacity->interpreter[at])
            put_frame(capacity, &n, capacity->interpreter[at++]);
        at += at < words;
    }
    for (; at < words; at++)
        if (capacity->interpreter[at])
            put_frame(capacity, &n, capacity->interpreter[at]);
    return n;
}

static uint64_t name_stack(struct dft_thread *self, struct dft_stack_capacity *capacity, uint32_t frames)
{
    uint32_t length = 6 + 8 * frames;
    uint64_t id;

    memcpy(capacity->text, "STACK", 6);
    id = dft_name_id(capacity->text, length);
    if (!dft_name_was_sent(self, id))
        dft_name_send(self, id, (struct dft_text){(const char *)capacity->text, length});
    return id;
}

uint64_t dft_stack_capture(struct dft_thread *self, uint64_t ticks)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    uint64_t id = 0;
    uint32_t frames;

    if (dft_vfork_mark || is_busy(self, here) || !is_long_enough(ticks))
        return 0;
    self->capturing = here;
    if (!self->stack_capacity)
        self->stack_capacity = dft_sys_map(sizeof *self->stack_capacity);
    if (self->stack_capacity && (frames = name_frames(self, self->stack_capacity)))
        id = name_stack(self, self->stack_capacity, frames);
    self->capturing = 0;
    return id;
}
