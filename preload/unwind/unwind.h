/* SPDX-License-Identifier: MIT */
/* Walks up the calling thread's stack by the tables that compilers leave for exceptions
 * (.eh_frame). The walk takes no lock, allocates nothing, opens nothing and leaves errno. So it
 * may run in handlers, in the middle of malloc, and in forked children. It reads memory of the
 * stack only after it has asked whether it can be read. */
#ifndef DFT_UNWIND_H
#define DFT_UNWIND_H

#include <stdint.h>

#include "os/library.h"

/* The registers that a frame is found by. On 64-bit ARM `bx` is x19. */
enum { DFT_UNWIND_PC, DFT_UNWIND_FP, DFT_UNWIND_BX, DFT_UNWIND_SP, DFT_UNWIND_REGISTERS };

enum dft_unwind_kind {
    DFT_RULE_SAME,  /* as it is; of the stack pointer: it is the frame's address */
    DFT_RULE_AT,    /* saved at the frame's address and `value` */
    DFT_RULE_IS,    /* is that */
    DFT_RULE_AT_EX, /* saved where an expression says; `value` points to its length */
    DFT_RULE_IS_EX,
    DFT_RULE_REGISTER, /* in another register, `value` */
    DFT_RULE_NONE      /* not kept; of the PC: there is no caller */
};

struct dft_unwind_rule {
    enum dft_unwind_kind kind;
    int64_t value;
};

/* What is known of one place: how its frame's address (CFA) is found, and what the caller had in
 * its registers. */
struct dft_unwind_row {
    uint32_t
        base; /* number of the register that the frame's address is counted from, as DWARF has it; DFT_UNWIND_BY_EXPRESSION */
    int64_t offset; /* from there, or the expression */
    struct dft_unwind_rule rules[DFT_UNWIND_REGISTERS];
    int is_signal; /* the caller was interrupted */
};
#define DFT_UNWIND_BY_EXPRESSION 255u

#if defined(__x86_64__)
#define DFT_DWARF_SP 7u
#define DFT_DWARF_FP 6u
#define DFT_DWARF_BX 3u
#define DFT_DWARF_PC 16u
#elif defined(__aarch64__)
#define DFT_DWARF_SP 31u
#define DFT_DWARF_FP 29u
#define DFT_DWARF_BX 19u
#define DFT_DWARF_PC 30u
#endif

/* Looks up the row of an address of code in the table of its library (.eh_frame_hdr). Returns 0,
 * or -1: there is none, or it says what is not understood here. (unwind_table.c) */
int dft_unwind_find_row(const uint8_t *table, uint64_t pc, struct dft_unwind_row *row);

/* DWARF's numbers of any length, without and with a sign; *at goes behind. (unwind_table.c) */
uint64_t dft_unwind_uleb(const uint8_t **at);
int64_t dft_unwind_sleb(const uint8_t **at);

#define DFT_UNWIND_PAGE UINT64_C(4096) /* or a part of one */

struct dft_unwind_memory {
    uint64_t page; /* the last that could be read; 0: none yet */
};

/* Of a page that is not the last. */
int dft_unwind_load_page(struct dft_unwind_memory *memory, uint64_t at, uint64_t *value);

/* Reads a word of the stack; nonzero: it cannot be. */
static inline int dft_unwind_load(struct dft_unwind_memory *memory, uint64_t at, uint64_t *value)
{
    if (at % 8 || at / DFT_UNWIND_PAGE != memory->page || !memory->page)
        return dft_unwind_load_page(memory, at, value);
    *value = *(const uint64_t *)at; /* NOLINT: an address of the stack */
    return 0;
}

/* Where a walk is. */
struct dft_unwind_walk {
    uint64_t pc, sp, registers[DFT_UNWIND_REGISTERS];
    int is_exact;     /* the address is that of the next instruction, not what a call returns to */
    uint64_t context; /* where the kernel has put all registers of this frame (ucontext_t); 0: it was not interrupted */
    struct dft_unwind_memory memory;
};

/* Starts a walk where a signal struck: from the third argument of its handler. */
void dft_unwind_begin(struct dft_unwind_walk *walk, const void *context);
/* Goes to the caller. Nonzero: there is none, or none is known. */
int dft_unwind_step(struct dft_unwind_walk *walk);

/* A register by its number in DWARF; nonzero: it is not known. */
int dft_unwind_register(struct dft_unwind_walk *walk, uint64_t dwarf, uint64_t *value);
/* A DWARF expression, as far as tables of linkers and C libraries have them. With `start` non-zero
 * that is on the stack first. Nonzero: it cannot be. (unwind_expression.c) */
int dft_unwind_evaluate(struct dft_unwind_walk *walk, const uint8_t *at, uint64_t start, uint64_t *result);

/* The address without its signature. */
static inline uint64_t dft_unwind_plain(uint64_t address)
{
#if defined(__aarch64__)
    register uint64_t x30 __asm__("x30") = address;

    __asm__("hint #7" : "+r"(x30)); /* xpaclri */
    return x30;
#else
    return address;
#endif
}

/* Goes to the caller of code that has no table. Nonzero: nothing there looks like one.
 * (unwind_guess.c) */
int dft_unwind_guess(struct dft_unwind_walk *walk);

/* A library is gone. */
void dft_unwind_forget(void);

/* The library of this address is one that we work by: its frames next to ours are not the
 * program's. Once, early. */
void dft_unwind_spare(const void *address);

/* Addresses in the functions that called, the innermost first: of their calls, not of what follows
 * these. Frames of this library are left out. Returns their number. */
uint32_t dft_unwind(uint64_t *addresses, uint32_t room);

#endif
