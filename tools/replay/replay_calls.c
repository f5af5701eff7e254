/* SPDX-License-Identifier: MIT */
/* The calls that replay repeats: by name, else by operation. */
#include "replay/replay_calls.h"

#include <errno.h>
#include <stddef.h>

#include "format/hash.h"
#include "format/ops.h"

struct row {
    const char *text; /* "CATEGORY\0name" */
    size_t length;
    enum dft_replay_call call;
};

#define ROW(category, name, call)                                                                                      \
    {                                                                                                                  \
        category "\0" #name, sizeof category "\0" #name - 1, DFT_REPLAY_##call                                         \
    }

static const struct row rows[] = {
#define DFT_REPLAY(name, on)              ROW("POSIX", name, name),
#define DFT_REPLAY_AS(alias, name)        ROW("POSIX", alias, name),
#define DFT_REPLAY_STREAM(name, on)       ROW("STDIO", name, name),
#define DFT_REPLAY_STREAM_AS(alias, name) ROW("STDIO", alias, name),
#include "replay/replay_calls.def"
};

#define ON_FD   1
#define ON_PATH 0

int dft_replay_on_descriptor(enum dft_replay_call call)
{
    static const uint8_t on[DFT_REPLAY_CALLS] = {
#define DFT_REPLAY(name, on)        [DFT_REPLAY_##name] = ON_##on,
#define DFT_REPLAY_STREAM(name, on) [DFT_REPLAY_##name] = ON_##on,
#define DFT_REPLAY_AS(alias, name)
#define DFT_REPLAY_STREAM_AS(alias, name)
#include "replay/replay_calls.def"
    };

    return on[call];
}

/* For calls without a row: what moves the same bytes in the same way. */
static enum dft_replay_call call_by_op(uint8_t op)
{
    switch (op) {
    case DFT_OP_READ:
        return DFT_REPLAY_read;
    case DFT_OP_WRITE:
        return DFT_REPLAY_write;
    case DFT_OP_FREAD:
    case DFT_OP_FGETS:
        return DFT_REPLAY_fread;
    case DFT_OP_FWRITE:
    case DFT_OP_FPUTS:
        return DFT_REPLAY_fwrite;
    default:
        return DFT_REPLAY_NONE;
    }
}

int dft_replay_calls_make(struct dft_map *calls)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t *value = dft_map_put(calls, dft_name_id(rows[i].text, rows[i].length));

        if (!value)
            return -ENOMEM;
        *value = rows[i].call;
    }
    return 0;
}

enum dft_replay_call dft_replay_call_of(const struct dft_map *calls, uint64_t call, uint8_t op, int *stands_in)
{
    const uint64_t *known = dft_map_find(calls, call);

    *stands_in = !known && (op == DFT_OP_READ || op == DFT_OP_WRITE);
    return known ? (enum dft_replay_call) * known : call_by_op(op);
}
