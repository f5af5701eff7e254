/* SPDX-License-Identifier: MIT */
/* The operations of ops.def as C values. */
#ifndef DFT_OPS_H
#define DFT_OPS_H

#include <stdint.h>

#include "format/facets.h"

enum dft_op {
#define DFT_OP(number, name, class, io, bytes, effect, group) DFT_OP_##name = number,
#include <dftrace/ops.def>
#undef DFT_OP
    DFT_OP_COUNT = 64
};

enum dft_class { DFT_CLASS_META = 0, DFT_CLASS_READ = 1, DFT_CLASS_WRITE = 2, DFT_CLASS_NONE = 3, DFT_CLASS_MARK = 4 };
enum dft_bytes_rule { DFT_BYTES_NOTHING = 0, DFT_BYTES_RESULT = 1, DFT_BYTES_ITEMS = 2 };
enum dft_effect {
    DFT_EFFECT_KEEPS = 0,
    DFT_EFFECT_OPENS,
    DFT_EFFECT_CLOSES,
    DFT_EFFECT_MOVES,
    DFT_EFFECT_AT,
    DFT_EFFECT_STREAM
};
enum dft_op_group { DFT_GROUP_POSIX = 0, DFT_GROUP_STDIO, DFT_GROUP_PROCESS, DFT_GROUP_REGIONS };

/* The class of a file's row for calls of a class. An exec is of none, but its file is looked at. */
static inline enum dft_class dft_class_on_file(enum dft_class class)
{
    return class == DFT_CLASS_NONE ? DFT_CLASS_META : class;
}

/* Unknown operations count as OTHER. */
static inline enum dft_class dft_op_class(uint8_t op)
{
    static const uint8_t classes[DFT_OP_COUNT] = {
#define DFT_OP(number, name, class, io, bytes, effect, group) [number] = DFT_CLASS_##class,
#include <dftrace/ops.def>
#undef DFT_OP
    };
    return op < DFT_OP_COUNT ? (enum dft_class)classes[op] : DFT_CLASS_META;
}

/* What calls of an operation are about, unless their file is of a class of its own. */
static inline enum dft_io dft_op_io(uint8_t op)
{
    static const uint8_t ios[DFT_OP_COUNT] = {
#define DFT_OP(number, name, class, io, bytes, effect, group) [number] = DFT_IO_##io,
#include <dftrace/ops.def>
#undef DFT_OP
    };
    return op < DFT_OP_COUNT ? (enum dft_io)ios[op] : DFT_IO_META;
}

static inline enum dft_bytes_rule dft_op_bytes(uint8_t op)
{
    static const uint8_t rules[DFT_OP_COUNT] = {
#define DFT_OP(number, name, class, io, bytes, effect, group) [number] = DFT_BYTES_##bytes,
#include <dftrace/ops.def>
#undef DFT_OP
    };
    return op < DFT_OP_COUNT ? (enum dft_bytes_rule)rules[op] : DFT_BYTES_NOTHING;
}

static inline enum dft_effect dft_op_effect(uint8_t op)
{
    static const uint8_t effects[DFT_OP_COUNT] = {
#define DFT_OP(number, name, class, io, bytes, effect, group) [number] = DFT_EFFECT_##effect,
#include <dftrace/ops.def>
#undef DFT_OP
    };
    return op < DFT_OP_COUNT ? (enum dft_effect)effects[op] : DFT_EFFECT_KEEPS;
}

static inline enum dft_op_group dft_op_group(uint8_t op)
{
    static const uint8_t groups[DFT_OP_COUNT] = {
#define DFT_OP(number, name, class, io, bytes, effect, group) [number] = DFT_GROUP_##group,
#include <dftrace/ops.def>
#undef DFT_OP
    };
    return op < DFT_OP_COUNT ? (enum dft_op_group)groups[op] : DFT_GROUP_POSIX;
}

/* Has a record of one slot the mode in place of the offset? */
static inline int dft_op_has_mode(uint8_t op)
{
    return op == DFT_OP_OPEN || op == DFT_OP_MKDIR || op == DFT_OP_LOCK;
}

static inline int dft_op_is_data(uint8_t op)
{
    enum dft_effect effect = dft_op_effect(op);

    return effect == DFT_EFFECT_MOVES || effect == DFT_EFFECT_AT || effect == DFT_EFFECT_STREAM;
}

#endif
