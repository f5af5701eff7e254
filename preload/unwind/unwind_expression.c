/* Evaluates the expressions in tables for exceptions: those of signal frames and of linkage tables. */
#include <string.h>

#include "unwind/unwind.h"

#define STACK_MOST 32u

int dft_unwind_register(const struct dft_unwind_walk *walk, uint64_t dwarf, uint64_t *value)
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
    case DFT_DWARF_PC:
        *value = walk->pc;
        return DFT_DWARF_PC == 30; /* where that is the link register it is not known */
    default:
        return -1;
    }
}

static int combine(uint8_t op, uint64_t a, uint64_t b, uint64_t *result)
{
    switch (op) {
    case 0x1a:
        *result = a & b;
        return 0;
    case 0x1c:
        *result = a - b;
        return 0;
    case 0x22:
        *result = a + b;
        return 0;
    case 0x24:
        *result = b < 64 ? a << b : 0;
        return 0;
    case 0x2a:
        *result = (int64_t)a >= (int64_t)b;
        return 0;
    default:
        return -1;
    }
}

/* Puts one value on the expression's stack. Returns 1: the operation is none of these. */
static int push(const struct dft_unwind_walk *walk, uint8_t op, const uint8_t **at, uint64_t *value)
{
    if (op >= 0x30 && op <= 0x4f) {
        *value = op - 0x30;
    } else if (op >= 0x70 && op <= 0x8f) {
        if (dft_unwind_register(walk, op - 0x70, value))
            return -1;
        *value += (uint64_t)dft_unwind_sleb(at);
    } else if (op == 0x08 || op == 0x09) {
        uint8_t byte = *(*at)++;

        *value = op == 0x08 ? byte : (uint64_t)(int64_t)(int8_t)byte;
    } else if (op == 0x0a || op == 0x0b) {
        int16_t number;

        memcpy(&number, *at, 2);
        *at += 2;
        *value = op == 0x0a ? (uint16_t)number : (uint64_t)(int64_t)number;
    } else if (op == 0x10 || op == 0x11) {
        *value = op == 0x11 ? (uint64_t)dft_unwind_sleb(at) : dft_unwind_uleb(at);
    } else {
        return 1;
    }
    return 0;
}

int dft_unwind_evaluate(struct dft_unwind_walk *walk, const uint8_t *at, uint64_t start, uint64_t *result)
{
    uint64_t stack[STACK_MOST], length = dft_unwind_uleb(&at);
    const uint8_t *end = at + length;
    unsigned n = 0;

    if (start)
        stack[n++] = start;
    while (at < end) {
        uint8_t op = *at++;
        int rc = n < STACK_MOST ? push(walk, op, &at, &stack[n]) : -1;

        if (rc < 0)
            return -1;
        if (!rc) {
            n++;
        } else if (op == 0x06 && n) {
            if (dft_unwind_load(&walk->memory, stack[n - 1], &stack[n - 1]))
                return -1;
        } else if (op == 0x23 && n) {
            stack[n - 1] += dft_unwind_uleb(&at);
        } else if (n > 1 && !combine(op, stack[n - 2], stack[n - 1], &stack[n - 2])) {
            n--;
        } else if (op != 0x96) {
            return -1;
        }
    }
    *result = n ? stack[n - 1] : 0;
    return n ? 0 : -1;
}
