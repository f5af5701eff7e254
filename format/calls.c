/* SPDX-License-Identifier: MIT */
/* The table of call names, made from calls.def. */
#include "format/calls.h"

#include "format/hash.h"
#include "format/ops.h"

const struct dft_call_row dft_call_rows[DFT_CALL_COUNT] = {
    {"", 0, DFT_OP_OTHER},
#define ROW(category, op, name) {#category "\0" #name, sizeof(#category "\0" #name) - 1, DFT_OP_##op},
#include "call_rows.def"
};

/* One text, since each process that leaves a trace asks for its id. */
static const char names[] = ""
#define ROW(category, op, name) #category " " #name "\n"
#include "call_rows.def"
    ;

uint64_t dft_call_rows_id(void)
{
    uint64_t id = dft_name_id(names, sizeof names);

    for (unsigned i = 0; i < DFT_CALL_COUNT; i++)
        id = id * 31 + dft_call_rows[i].op;
    return id;
}
