/* SPDX-License-Identifier: MIT */
/* Evaluates the expressions in tables for exceptions: the expressions of signal frames and of
 * linkage tables. */
#include <stddef.h>
#include <string.h>
#include <ucontext.h>

#include "unwind/dwarf.h"
#include "unwind/unwind.h"

#define STACK_MAX 32u

/* Reads a register that the kernel saved. */
static int load_interrupted(struct dft_unwind_walk *walk, uint64_t dwarf, uint64_t *value)
{
#if defined(__x86_64__)
    static const uint8_t order[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
                                    REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    size_t first = offsetof(ucontext_t, uc_mcontext.gregs);

    if (dwarf >= sizeof order)
        return -1;
    dwarf = order[dwarf];
#elif defined(__aarch64__)
    size_t first = offsetof(ucontext_t, uc_mcontext.regs);

    if (dwarf > 30)
        return -1;
#endif
    return walk->context ? dft_unwind_load(&walk->memory, walk->context + first + 8 * dwarf, value) : -1;
}

int dft_unwind_register(struct dft_unwind_walk *walk, uint64_t dwarf, uint64_t *value)
{
    switch (dwarf) {
    case DFT_DWARF_SP:
        *value = walk->sp;
        return 0;
    case DFT_DWARF_FP:
        *value = walk->registers[DFT_UNWIND_FP];
        return 0;
    case DFT_DWARF_BX:
        *value = walk->registers[DFT_UNWIND_BX];
        return 0;
#if DFT_DWARF_PC != 30 /* on 64-bit ARM this number is the link register */
    case DFT_DWARF_PC:
        *value = walk->pc;
        return 0;
#endif
    default:
        return load_interrupted(walk, dwarf, value);
    }
}

static int combine(uint8_t op, uint64_t a, uint64_t b, uint64_t *result)
{
    switch (op) {
    case DW_OP_and:
        *result = a & b;
        return 0;
    case DW_OP_minus:
        *result = a - b;
        return 0;
    case DW_OP_plus:
        *result = a + b;
        return 0;
    case DW_OP_shl:
        *result = b < 64 ? a << b : 0;
        return 0;
    case DW_OP_ge:
        *result = (int64_t)a >= (int64_t)b;
        return 0;
    default:
        return -1;
    }
}

/* Pushes one value on the expression's stack. Returns 1 when the operation pushes no value. */
static int push(struct dft_unwind_walk *walk, uint8_t op, const uint8_t **at, uint64_t *value)
{
    if (op >= DW_OP_lit0 && op <= DW_OP_lit31) {
        *value = op - DW_OP_lit0;
    } else if (op >= DW_OP_breg0 && op <= DW_OP_breg31) {
        if (dft_unwind_register(walk, op - DW_OP_breg0, value))
            return -1;
        *value += (uint64_t)dft_unwind_sleb(at);
    } else if (op == DW_OP_const1u || op == DW_OP_const1s) {
        uint8_t byte = *(*at)++;

        *value = op == DW_OP_const1u ? byte : (uint64_t)(int64_t)(int8_t)byte;
    } else if (op == DW_OP_const2u || op == DW_OP_const2s) {
        int16_t number;

        memcpy(&number, *at, 2);
        *at += 2;
        *value = op == DW_OP_const2u ? (uint16_t)number : (uint64_t)(int64_t)number;
    } else if (op == DW_OP_constu || op == DW_OP_consts) {
        *value = op == DW_OP_consts ? (uint64_t)dft_unwind_sleb(at) : dft_unwind_uleb(at);
    } else {
        return 1;
    }
    return 0;
}

int dft_unwind_evaluate(struct dft_unwind_walk *walk, const uint8_t *at, uint64_t start, uint64_t *result)
{
    uint64_t stack[STACK_MAX], length = dft_unwind_uleb(&at);
    const uint8_t *end = at + length;
    unsigned n = 0;

    if (start)
        stack[n++] = start;
    while (at < end) {
        uint8_t op = *at++;
        int rc = n < STACK_MAX ? push(walk, op, &at, &stack[n]) : -1;

        if (rc < 0)
            return -1;
        if (!rc) {
            n++;
        } else if (op == DW_OP_deref && n) {
            if (dft_unwind_load(&walk->memory, stack[n - 1], &stack[n - 1]))
                return -1;
        } else if (op == DW_OP_plus_uconst && n) {
            stack[n - 1] += dft_unwind_uleb(&at);
        } else if (n > 1 && !combine(op, stack[n - 2], stack[n - 1], &stack[n - 2])) {
            n--;
        } else if (op != DW_OP_nop) {
            return -1;
        }
    }
    *result = n ? stack[n - 1] : 0;
    return n ? 0 : -1;
}
