/* SPDX-License-Identifier: MIT */
/* Owns the frames of an interpreter. An extension of the interpreter walks them when a stack is
 * due, in the thread that made the call. The extension reads memory that may be in the middle of a
 * change, so it asks here first whether the memory can be read. */
#include "ring/interpreter.h"

#include <string.h>

#include "format/hash.h"
#include "os/bulk.h"
#include "ring/ring.h"
#include "ring/stack.h"

#define PAGE      4096u
#define PAGE_BITS 45 /* of a page's number */
#define PAGES     1024u
#define TEXT_MAX  400u

/* One walk. */
struct walk {
    struct dftrace_walk given; /* first: what the extension sees */
    struct dft_thread *self;
    uint64_t *words;
    uint32_t count, frames, most;
};

const struct dftrace_frames *_Atomic dft_interpreter;

/* Pages that can be read, as the kernel said: the number of the page, above it that of the unmaps
 * until then. The interpreter gives memory back by munmap, which is a wrapper of ours. */
static _Atomic uint64_t pages[PAGES] DFT_BULK;
static _Atomic uint64_t unmaps = 1;

void dft_interpreter_forget_pages(void)
{
    atomic_fetch_add_explicit(&unmaps, 1, memory_order_relaxed);
}

int dft_interpreter_set(const struct dftrace_frames *frames)
{
    if (!dft_stack_depth)
        return 0;
    if (frames && frames->size >= sizeof *frames)
        atomic_store_explicit(&dft_interpreter, frames, memory_order_release);
    return 1;
}

int dft_interpreter_is_loop(uint64_t address)
{
    const struct dftrace_frames *frames = atomic_load_explicit(&dft_interpreter, memory_order_acquire);

    return frames && address - (uintptr_t)frames->loop < frames->loop_bytes;
}

static int can_read(struct dftrace_walk *given, const void *at, size_t bytes)
{
    uint64_t page = (uintptr_t)at / PAGE, last = ((uintptr_t)at + bytes - 1) / PAGE;
    uint64_t age = atomic_load_explicit(&unmaps, memory_order_relaxed) << PAGE_BITS;

    (void)given;
    if (!page || last < page || last - page >= PAGES || last >> PAGE_BITS)
        return 0;
    for (; page <= last; page++) {
        if (atomic_load_explicit(&pages[page % PAGES], memory_order_relaxed) == (page | age))
            continue;
        if (!dft_sys_can_read((const void *)(page * PAGE))) /* NOLINT: an address of the program */
            return 0;
        atomic_store_explicit(&pages[page % PAGES], page | age, memory_order_relaxed);
    }
    return 1;
}

/* The id of the name of a frame. The thread's stream has carried the text of the name. */
static uint64_t name_of(struct dft_thread *self, const char *text, size_t length)
{
    static const char category[] = "PYTHON"; /* with its NUL */
    char name[sizeof category + TEXT_MAX];
    uint64_t id;

    if (length > TEXT_MAX)
        length = TEXT_MAX;
    memcpy(name, category, sizeof category);
    memcpy(name + sizeof category, text, length);
    length += sizeof category;
    id = dft_name_id(name, length);
    if (!dft_name_was_sent(self, id))
        dft_name_send(self, id, (struct dft_text){name, (uint32_t)length});
    return id;
}

static int put_frame(struct dftrace_walk *given, const char *text, size_t length)
{
    static const char left_out[] = "[outer frames left out]";
    struct walk *walk = (struct walk *)given;
    int is_left_out = walk->frames == walk->most;

    if (walk->count == DFT_INTERPRETER_WORDS)
        return 0;
    if (is_left_out)
        walk->words[walk->count++] = name_of(walk->self, left_out, sizeof left_out - 1);
    else
        walk->words[walk->count++] = name_of(walk->self, text, length);
    return ++walk->frames <= walk->most;
}

static void end_loop(struct dftrace_walk *given)
{
    struct walk *walk = (struct walk *)given;

    if (walk->count < DFT_INTERPRETER_WORDS)
        walk->words[walk->count++] = 0;
}

uint32_t dft_interpreter_name_frames(struct dft_thread *self, uint64_t words[DFT_INTERPRETER_WORDS], uint32_t most)
{
    const struct dftrace_frames *frames = atomic_load_explicit(&dft_interpreter, memory_order_acquire);
    struct walk walk;

    if (!frames)
        return 0;
    walk = (struct walk){.given = {sizeof walk.given, can_read, put_frame, end_loop}, .self = self, .words = words};
    walk.most = most < DFT_INTERPRETER_LEAST ? DFT_INTERPRETER_LEAST : most;
    frames->walk(&walk.given);
    return walk.count;
}
