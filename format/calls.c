/* SPDX-License-Identifier: MIT */
/* The table of call names, made from calls.def. */
#include "format/calls.h"

#include "format/hash.h"
#include "format/ops.h"

#define ROW(category, op, name) {#category "\0" #name, sizeof(#category "\0" #name) - 1, DFT_OP_##op},

const struct dft_call_row dft_call_rows[DFT_CALL_COUNT] = {
    {"", 0, DFT_OP_OTHER},
#define DFT_CALL(category, op, type, name, ...)     ROW(category, op, name)
#define DFT_MODE                                    DFT_CALL
#define DFT_CUSTOM                                  DFT_CALL
#define DFT_FORMAT(category, op, name, ...)         ROW(category, op, name)
#define DFT_RECLASSIFIED(category, event, op, name) ROW(category, op, event)
#define DFT_VERSIONED                               DFT_CALL
#define DFT_EVENT(category, op, name)               ROW(category, op, name)
#define DFT_ENTRY(...)
#define DFT_FORMAT_ENTRY(...)
#define DFT_ALIAS(...)
#define DFT_CUSTOM_ALIAS(...)
#define DFT_GATE(...)
#include <dftrace/calls.def>
#define DFT_SYSCALL_EVENT(category, op, name) ROW(category, op, name)
#define DFT_SYSCALL(...)
#define DFT_SYSCALL_CUSTOM(...)
#include <dftrace/syscalls.def>
};

uint64_t dft_call_rows_id(void)
{
    uint64_t id = DFT_CALL_COUNT;

    for (unsigned i = 0; i < DFT_CALL_COUNT; i++) {
        uint64_t pair[2] = {id, dft_name_id(dft_call_rows[i].text, dft_call_rows[i].length) + dft_call_rows[i].op};

        id = dft_name_id(pair, sizeof pair);
    }
    return id;
}
