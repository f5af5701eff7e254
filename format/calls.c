/* SPDX-License-Identifier: MIT */
/* The table of call names, made from calls.def. */
#include "format/calls.h"

#include <stddef.h>

#include "format/hash.h"
#include "format/ops.h"

struct texts {
    char none[1];
#define ROW(category, op, number, name) char of_##number[sizeof(#category "\0" #name)];
#include "call_rows.def"
};

static const struct texts texts = {
    "",
#define ROW(category, op, number, name) #category "\0" #name,
#include "call_rows.def"
};
_Static_assert(sizeof texts <= UINT16_MAX, "an offset fits");

const struct dft_call_row dft_call_rows[DFT_CALL_COUNT] = {
    {offsetof(struct texts, none), 0, DFT_OP_OTHER},
#define ROW(category, op, number, name)                                                                                \
    {offsetof(struct texts, of_##number), sizeof(#category "\0" #name) - 1, DFT_OP_##op},
#include "call_rows.def"
};

const char *dft_call_text(const struct dft_call_row *row)
{
    return (const char *)&texts + row->text;
}

uint64_t dft_call_rows_id(void)
{
    return dft_name_id(&texts, sizeof texts) ^ dft_name_id(dft_call_rows, sizeof dft_call_rows);
}
