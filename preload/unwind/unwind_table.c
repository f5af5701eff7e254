/* SPDX-License-Identifier: MIT */
/* Reads the tables for exceptions. Finds a function's description (FDE) and runs its instructions
 * up to an address. */
#include "unwind/unwind.h"

#include <string.h>

#include "unwind/dwarf.h"

#define REMEMBERED 4u

/* --- bytes ------------------------------------------------------------------------------------ */

static uint64_t get(const uint8_t **at, unsigned bytes)
{
    uint64_t value = 0;

    memcpy(&value, *at, bytes); /* both machines have the lowest byte first */
    *at += bytes;
    return value;
}

uint64_t dft_unwind_uleb(const uint8_t **at)
{
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;

    do {
        byte = *(*at)++;
        value |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
        shift += 7;
    } while (byte & 0x80);
    return value;
}

int64_t dft_unwind_sleb(const uint8_t **at)
{
    const uint8_t *from = *at;
    uint64_t value = dft_unwind_uleb(at);
    unsigned bits = 7 * (unsigned)(*at - from);

    if (bits < 64 && (*at)[-1] & 0x40)
        value |= ~UINT64_C(0) << bits;
    return (int64_t)value;
}

/* Reads an address in one of the encodings (DW_EH_PE_*). A base that no linker uses for code counts
 * as 0. */
static uint64_t get_pointer(const uint8_t **at, uint8_t encoding)
{
    uint64_t from = (encoding & DW_EH_PE_BASE) == DW_EH_PE_pcrel ? (uint64_t)*at : 0, value;

    switch (encoding & DW_EH_PE_FORM) {
    case DW_EH_PE_uleb128:
        value = dft_unwind_uleb(at);
        break;
    case DW_EH_PE_udata2:
        value = get(at, 2);
        break;
    case DW_EH_PE_udata4:
        value = get(at, 4);
        break;
    case DW_EH_PE_sleb128:
        value = (uint64_t)dft_unwind_sleb(at);
        break;
    case DW_EH_PE_sdata2:
        value = (uint64_t)(int64_t)(int16_t)get(at, 2);
        break;
    case DW_EH_PE_sdata4:
        value = (uint64_t)(int64_t)(int32_t)get(at, 4);
        break;
    default:
        value = get(at, 8);
    }
    return value ? value + from : 0;
}

static void skip_block(const uint8_t **at)
{
    uint64_t length = dft_unwind_uleb(at);

    *at += length;
}

/* --- the description -------------------------------------------------------------------------- */

struct code {
    const uint8_t *at, *end; /* instructions */
};

struct description {
    uint64_t from, to; /* addresses of code */
    uint64_t code_align;
    int64_t data_align;
    uint8_t encoding;
    int is_signal, has_length;
    struct code common, own;
};

/* Reads the letters, such as "zRS". `at` points behind the letters and the numbers. Returns -1 for
 * unknown letters. */
static int read_augmentation(struct description *description, const char *letters, const uint8_t **at)
{
    const uint8_t *end;
    uint64_t length;

    if (*letters != 'z')
        return *letters ? -1 : 0;
    description->has_length = 1;
    length = dft_unwind_uleb(at);
    end = *at + length;
    for (letters++; *letters; letters++)
        if (*letters == 'R')
            description->encoding = *(*at)++;
        else if (*letters == 'L')
            ++*at;
        else if (*letters == 'P') {
            uint8_t encoding = *(*at)++;

            if ((encoding & DW_EH_PE_BASE) == DW_EH_PE_aligned)
                return -1;
            get_pointer(at, encoding);
        } else if (*letters == 'S')
            description->is_signal = 1;
        else if (*letters != 'B')
            return -1;
    *at = end;
    return 0;
}

static int read_common(struct description *description, const uint8_t *at)
{
    uint64_t length = get(&at, 4);
    const uint8_t *end = at + length;
    const char *letters;
    uint64_t version, ra;

    if (length >= 0xfffffff0 || get(&at, 4))
        return -1;
    version = get(&at, 1);
    if (version != 1 && version != 3)
        return -1;
    letters = (const char *)at;
    at += strlen(letters) + 1;
    description->code_align = dft_unwind_uleb(&at);
    description->data_align = dft_unwind_sleb(&at);
    ra = version == 1 ? get(&at, 1) : dft_unwind_uleb(&at);
    if (ra != DFT_DWARF_PC || read_augmentation(description, letters, &at))
        return -1;
    description->common = (struct code){at, end};
    return 0;
}

static int read_description(struct description *description, const uint8_t *at)
{
    uint64_t length = get(&at, 4);
    const uint8_t *end = at + length, *common = at;

    if (length >= 0xfffffff0)
        return -1;
    common -= get(&at, 4);
    *description = (struct description){0};
    if (read_common(description, common))
        return -1;
    description->from = get_pointer(&at, description->encoding);
    description->to = description->from + get_pointer(&at, description->encoding & DW_EH_PE_FORM);
    if (description->has_length)
        skip_block(&at);
    description->own = (struct code){at, end};
    return 0;
}

/* Searches the sorted table of .eh_frame_hdr, in the form that linkers write. */
static const uint8_t *find_description(const uint8_t *table, uint64_t pc)
{
    const uint8_t *at = table + 4;
    const int32_t *pairs;
    uint64_t count, low = 0;
    int64_t place = (int64_t)(pc - (uint64_t)table);

    if (table[0] != 1 || table[2] != DW_EH_PE_udata4 || table[3] != (DW_EH_PE_datarel | DW_EH_PE_sdata4))
        return NULL;
    get_pointer(&at, table[1]);
    count = get(&at, 4);
    pairs = (const int32_t *)at; /* offset of the code, offset of the description */
    if (!count || place < pairs[0])
        return NULL;
    while (count > 1) {
        uint64_t half = count / 2;

        if (pairs[2 * (low + half)] <= place)
            low += half;
        count -= half;
    }
    return table + pairs[2 * low + 1];
}

/* --- instructions ----------------------------------------------------------------------------- */

struct machine {
    const struct description *description;
    struct dft_unwind_row row, initial, remembered[REMEMBERED];
    unsigned depth;
    uint64_t at, pc;
};

static struct dft_unwind_rule *rule_of(struct dft_unwind_row *row, uint64_t dwarf)
{
    return dwarf == DFT_DWARF_PC   ? &row->rules[DFT_UNWIND_PC]
           : dwarf == DFT_DWARF_FP ? &row->rules[DFT_UNWIND_FP]
           : dwarf == DFT_DWARF_BX ? &row->rules[DFT_UNWIND_BX]
           : dwarf == DFT_DWARF_SP ? &row->rules[DFT_UNWIND_SP]
                                   : NULL;
}

static void set(struct machine *machine, uint64_t dwarf, enum dft_unwind_kind kind, int64_t value)
{
    struct dft_unwind_rule *rule = rule_of(&machine->row, dwarf);

    if (rule)
        *rule = (struct dft_unwind_rule){kind, value};
}

static void restore(struct machine *machine, uint64_t dwarf)
{
    struct dft_unwind_rule *rule = rule_of(&machine->row, dwarf);

    if (rule)
        *rule = *rule_of(&machine->initial, dwarf);
}

/* Runs an instruction about one register. Returns -1 for any other instruction. */
static int run_register(struct machine *machine, uint8_t op, const uint8_t **at)
{
    int64_t unit = machine->description->data_align;
    uint64_t dwarf = dft_unwind_uleb(at);

    switch (op) {
    case DW_CFA_offset_extended:
        set(machine, dwarf, DFT_RULE_AT, (int64_t)dft_unwind_uleb(at) * unit);
        return 0;
    case DW_CFA_restore_extended:
        restore(machine, dwarf);
        return 0;
    case DW_CFA_undefined:
        set(machine, dwarf, DFT_RULE_NONE, 0);
        return 0;
    case DW_CFA_same_value:
        set(machine, dwarf, DFT_RULE_SAME, 0);
        return 0;
    case DW_CFA_register:
        set(machine, dwarf, DFT_RULE_REGISTER, (int64_t)dft_unwind_uleb(at));
        return 0;
    case DW_CFA_expression:
        set(machine, dwarf, DFT_RULE_AT_EX, (int64_t)*at);
        skip_block(at);
        return 0;
    case DW_CFA_offset_extended_sf:
        set(machine, dwarf, DFT_RULE_AT, dft_unwind_sleb(at) * unit);
        return 0;
    case DW_CFA_val_offset:
        set(machine, dwarf, DFT_RULE_IS, (int64_t)dft_unwind_uleb(at) * unit);
        return 0;
    case DW_CFA_val_offset_sf:
        set(machine, dwarf, DFT_RULE_IS, dft_unwind_sleb(at) * unit);
        return 0;
    case DW_CFA_val_expression:
        set(machine, dwarf, DFT_RULE_IS_EX, (int64_t)*at);
        skip_block(at);
        return 0;
    default:
        return -1;
    }
}

/* Runs an instruction about the frame. Returns 1 for any other instruction. */
static int run_frame(struct machine *machine, uint8_t op, const uint8_t **at)
{
    int64_t unit = machine->description->data_align;
    struct dft_unwind_row *row = &machine->row;

    switch (op) {
    case DW_CFA_def_cfa:
        row->base = (uint32_t)dft_unwind_uleb(at);
        row->offset = (int64_t)dft_unwind_uleb(at);
        return 0;
    case DW_CFA_def_cfa_register:
        row->base = (uint32_t)dft_unwind_uleb(at);
        return 0;
    case DW_CFA_def_cfa_offset:
        row->offset = (int64_t)dft_unwind_uleb(at);
        return 0;
    case DW_CFA_def_cfa_expression:
        row->base = DFT_UNWIND_BY_EXPRESSION;
        row->offset = (int64_t)*at;
        skip_block(at);
        return 0;
    case DW_CFA_def_cfa_sf:
        row->base = (uint32_t)dft_unwind_uleb(at);
        row->offset = dft_unwind_sleb(at) * unit;
        return 0;
    case DW_CFA_def_cfa_offset_sf:
        row->offset = dft_unwind_sleb(at) * unit;
        return 0;
    default:
        return 1;
    }
}

/* Runs an instruction about the place or the state. Returns 1 for any other instruction. */
static int run_place(struct machine *machine, uint8_t op, const uint8_t **at)
{
    switch (op) {
    case DW_CFA_nop:
    case DW_CFA_AARCH64_negate_ra_state: /* a signed address: dft_unwind_plain() */
        return 0;
    case DW_CFA_set_loc:
        machine->at = get_pointer(at, machine->description->encoding);
        return 0;
    case DW_CFA_advance_loc1:
        machine->at += get(at, 1) * machine->description->code_align;
        return 0;
    case DW_CFA_advance_loc2:
        machine->at += get(at, 2) * machine->description->code_align;
        return 0;
    case DW_CFA_advance_loc4:
        machine->at += get(at, 4) * machine->description->code_align;
        return 0;
    case DW_CFA_remember_state:
        if (machine->depth == REMEMBERED)
            return -1;
        machine->remembered[machine->depth++] = machine->row;
        return 0;
    case DW_CFA_restore_state:
        if (!machine->depth)
            return -1;
        machine->row = machine->remembered[--machine->depth];
        return 0;
    case DW_CFA_GNU_args_size:
        dft_unwind_uleb(at);
        return 0;
    default:
        return 1;
    }
}

static int run(struct machine *machine, struct code code)
{
    const uint8_t *at = code.at;

    while (at < code.end && machine->at <= machine->pc) {
        uint8_t op = *at++, low = op & DW_CFA_OPERAND;
        int rc = 0;

        if ((op & DW_CFA_PRIMARY) == DW_CFA_advance_loc)
            machine->at += low * machine->description->code_align;
        else if ((op & DW_CFA_PRIMARY) == DW_CFA_offset)
            set(machine, low, DFT_RULE_AT, (int64_t)dft_unwind_uleb(&at) * machine->description->data_align);
        else if ((op & DW_CFA_PRIMARY) == DW_CFA_restore)
            restore(machine, low);
        else if ((rc = run_place(machine, op, &at)) > 0 && (rc = run_frame(machine, op, &at)) > 0)
            rc = run_register(machine, op, &at);
        if (rc)
            return -1;
    }
    return 0;
}

int dft_unwind_find_row(const uint8_t *table, uint64_t pc, struct dft_unwind_row *row)
{
    struct description description;
    struct machine machine = {.description = &description, .pc = pc};
    const uint8_t *at = find_description(table, pc);

    if (!at || read_description(&description, at) || pc < description.from || pc >= description.to)
        return -1;
    if (run(&machine, description.common))
        return -1;
    machine.initial = machine.row;
    machine.at = description.from;
    if (run(&machine, description.own))
        return -1;
    *row = machine.row;
    row->is_signal = description.is_signal;
    return 0;
}
