/* Walks up the calling thread's stack by the tables that compilers leave for exceptions (.eh_frame). Takes no lock, allocates nothing, opens
 * nothing, leaves errno: also in handlers, in the middle of malloc, and in forked children. Memory of the stack is looked at only where it can
 * be read. */
#ifndef DFT_UNWIND_H
#define DFT_UNWIND_H

#include <stdint.h>

#include "os/library.h"

/* The registers that a frame is found by. On 64-bit ARM `bx` is x19. */
enum { DFT_UNWIND_PC, DFT_UNWIND_FP, DFT_UNWIND_BX, DFT_UNWIND_REGISTERS };

enum dft_unwind_kind {
    DFT_RULE_SAME,
    DFT_RULE_AT,    /* saved at the frame's address and `value` */
    DFT_RULE_IS,    /* is that */
    DFT_RULE_AT_EX, /* saved where an expression says; `value` points to its length */
    DFT_RULE_IS_EX,
    DFT_RULE_NONE /* not kept; of the PC: there is no caller */
};

struct dft_unwind_rule {
    enum dft_unwind_kind kind;
    int64_t value;
};

/* What is known of one place: how its frame's address (CFA) is found, and what the caller had in its registers. */
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

/* Looks up the row of an address of code in the table of its library (.eh_frame_hdr). Returns 0, or -1: there is none, or it says what is not
 * understood here. (unwind_table.c) */
int dft_unwind_find_row(const uint8_t *table, uint64_t pc, struct dft_unwind_row *row);

/* DWARF's numbers of any length, without and with a sign; *at goes behind. (unwind_table.c) */
uint64_t dft_unwind_uleb(const uint8_t **at);
int64_t dft_unwind_sleb(const uint8_t **at);

/* Reads a word of the stack; nonzero: it cannot be. */
struct dft_unwind_memory {
    uint64_t page; /* the last that could be read */
};
int dft_unwind_load(struct dft_unwind_memory *memory, uint64_t at, uint64_t *value);

/* Where a walk is. */
struct dft_unwind_walk {
    uint64_t pc, sp, registers[DFT_UNWIND_REGISTERS];
    int is_exact; /* the address is that of the next instruction, not what a call returns to */
    struct dft_unwind_memory memory;
};

/* A register by its number in DWARF; nonzero: it is not known. */
int dft_unwind_register(const struct dft_unwind_walk *walk, uint64_t dwarf, uint64_t *value);
/* A DWARF expression, as far as tables of linkers and C libraries have them. With `start` non-zero that is on the stack first. Nonzero: it cannot
 * be. (unwind_expression.c) */
int dft_unwind_evaluate(struct dft_unwind_walk *walk, const uint8_t *at, uint64_t start, uint64_t *result);

/* Once, early. */
void dft_unwind_init(void);
/* A library is gone. */
void dft_unwind_forget(void);

/* The library of this address is one that we work by: its frames next to ours are not the program's. Once, early. */
void dft_unwind_spare(const void *address);

/* Addresses in the functions that called, the innermost first: of their calls, not of what follows these. Frames of this library are left out.
 * Returns their number. */
uint32_t dft_unwind(uint64_t *addresses, uint32_t room);

#endif
