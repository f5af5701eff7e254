/* SPDX-License-Identifier: MIT */
/* Owns the step from code that has no table: code made at run time, or an address that is no code
 * at all. */
#include <string.h>

#include "unwind/unwind.h"

#define FRAME_MAX (UINT64_C(1) << 24) /* longer steps of a chain are not believed */

/* Does a call instruction stand before this address? */
static int is_after_call(struct dft_unwind_memory *memory, uint64_t pc)
{
    uint64_t words[2];
    uint8_t bytes[16], *before;
#if defined(__aarch64__)
    uint32_t instruction;
#endif

    if (pc < 16 || dft_unwind_load(memory, (pc - 8) & ~UINT64_C(7), &words[0]) ||
        dft_unwind_load(memory, (pc - 1) & ~UINT64_C(7), &words[1]))
        return 0;
    memcpy(bytes, words, 16);
    before = bytes + (pc & 7);
#if defined(__x86_64__)
    for (int length = 2; length <= 7; length++)
        if (before[8 - length] == 0xff && (before[9 - length] >> 3 & 7) == 2)
            return 1;
    return before[3] == 0xe8;
#else
    memcpy(&instruction, before + 4, 4);
    return (instruction & 0xfc000000) == 0x94000000 || (instruction & 0xfffffc1f) == 0xd63f0000;
#endif
}

/* Code that is made at run time mostly keeps a chain of frames. The walk believes a step of the
 * chain that leads behind a call. */
static int go_by_chain(struct dft_unwind_walk *walk)
{
    uint64_t frame = walk->registers[DFT_UNWIND_FP], caller, pc;

    if (frame < walk->sp || frame - walk->sp > FRAME_MAX || dft_unwind_load(&walk->memory, frame, &caller) ||
        dft_unwind_load(&walk->memory, frame + 8, &pc))
        return -1;
    pc = dft_unwind_plain(pc);
    if (!is_after_call(&walk->memory, pc))
        return -1;
    walk->pc = pc;
    walk->sp = frame + 16;
    walk->registers[DFT_UNWIND_FP] = caller;
    walk->registers[DFT_UNWIND_BX] = 0;
    walk->is_exact = 0;
    walk->context = 0;
    return 0;
}

/* A call led to an address that is no code. Its caller is at its return address. */
static int go_by_call(struct dft_unwind_walk *walk)
{
    uint64_t pc;
#if defined(__aarch64__)
    if (dft_unwind_register(walk, DFT_DWARF_PC, &pc))
        return -1;
    pc = dft_unwind_plain(pc);
#else
    if (dft_unwind_load(&walk->memory, walk->sp, &pc))
        return -1;
    walk->sp += 8;
#endif
    walk->pc = pc;
    walk->is_exact = 0;
    walk->context = 0;
    return is_after_call(&walk->memory, pc) ? 0 : -1;
}

int dft_unwind_guess(struct dft_unwind_walk *walk)
{
    uint64_t code;
    int is_code = !dft_unwind_load(&walk->memory, walk->pc & ~UINT64_C(7), &code);

    return walk->is_exact && !is_code ? go_by_call(walk) : go_by_chain(walk);
}
