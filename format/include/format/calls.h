/* SPDX-License-Identifier: MIT */
/* The intercepted calls of calls.def as numbers and names. The numbers hold within one build only;
 * files carry names. */
#ifndef DFT_CALLS_H
#define DFT_CALLS_H

#include "format/ops.h"

enum dft_call_number {
    DFT_CALL_NONE = 0,
#define DFT_CALL(category, op, type, name, ...)     DFT_CALL_##name,
#define DFT_MODE                                    DFT_CALL
#define DFT_CUSTOM                                  DFT_CALL
#define DFT_FORMAT(category, op, name, ...)         DFT_CALL_##name,
#define DFT_RECLASSIFIED(category, event, op, name) DFT_CALL_##name,
#define DFT_VERSIONED                               DFT_CALL
#define DFT_EVENT(category, op, name)               DFT_CALL_##name,
#define DFT_ENTRY(...)
#define DFT_FORMAT_ENTRY(...)
#define DFT_ALIAS(...)
#define DFT_CUSTOM_ALIAS(...)
#define DFT_GATE(...)
#include <dftrace/calls.def>
#define DFT_SYSCALL_EVENT(category, op, name) DFT_CALL_##name,
#define DFT_SYSCALL(...)
#define DFT_SYSCALL_CUSTOM(...)
#include <dftrace/syscalls.def>
    DFT_CALL_COUNT,
    /* Records that are no calls of the C library. */
    DFT_CALL_ANNOTATION = 0xf00, /* + op: the name is in the record's file field */
    DFT_CALL_NAME = 0xfff,       /* a definition: id and text */
};

/* An offset and no pointer: pointers would need a relocation in each process. */
struct dft_call_row {
    uint16_t text; /* of dft_call_text() */
    uint8_t length;
    uint8_t op;
};

/* By dft_call_number; entry 0 is unused. */
extern const struct dft_call_row dft_call_rows[DFT_CALL_COUNT];

/* "CATEGORY\0name" of a row. */
const char *dft_call_text(const struct dft_call_row *row);

/* Changes with the rows: a live file of another build must not be read with this table. */
uint64_t dft_call_rows_id(void);

#endif
