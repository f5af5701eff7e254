/* SPDX-License-Identifier: MIT */
/* Owns the records of calls on processes: with the program's path, a command, a wait status. */
#include "probe/probe_process.h"

#include <string.h>

#include "format/event.h"
#include "format/hash.h"
#include "settings/config.h"
#include "probe/paths.h"
#include "os/reading.h"

int dft_process_begin(struct dft_probe *probe, enum dft_call_number call)
{
    *probe = (struct dft_probe){.fd = -1};
    if (!(dft_on & DFT_ON_PROCESS))
        return 0;
    probe->start = dft_ticks();
    dft_flight_begin(probe, call);
    return 1;
}

/* --- arguments -------------------------------------------------------------------------------- */

struct argument {
    uint8_t tag;
    uint64_t key;
    union {
        int64_t number;
        uint32_t length;
    };
} __attribute__((packed));

/* The key of an argument: a name without a category. */
static uint64_t key_of(struct dft_thread *self, const char *name)
{
    char text[16] = "";
    uint32_t length = 1 + (uint32_t)strlen(name);
    uint64_t id;

    memcpy(text + 1, name, length - 1);
    id = dft_name_id(text, length);
    if (!dft_name_was_sent(self, id))
        dft_name_send(self, id, (struct dft_text){text, length});
    return id;
}

static void add_status(struct dft_thread *self, struct dft_pieces *pieces, struct argument *argument, int status)
{
    *argument = (struct argument){.tag = DFT_ITEM_ARG_INT, .key = key_of(self, "status"), .number = status};
    dft_pieces_add(pieces, argument, sizeof *argument);
}

/* Returns 1 when it was cut, or left out because nobody may ask how far it can be read. */
static int add_command(struct dft_thread *self, struct dft_pieces *pieces, struct argument *argument,
                       const char *command)
{
    struct dft_text text;

    if (dft_reading_find(&text, command, DFT_COMMAND_MAX + 1))
        return dft_is_sandboxed();
    *argument = (struct argument){.tag = DFT_ITEM_ARG_STRING, .key = key_of(self, "command")};
    argument->length = text.length < DFT_COMMAND_MAX ? text.length : DFT_COMMAND_MAX;
    dft_pieces_add(pieces, argument, offsetof(struct argument, length) + sizeof argument->length);
    dft_pieces_add(pieces, command, argument->length);
    return text.length > DFT_COMMAND_MAX;
}

/* --- records ---------------------------------------------------------------------------------- */

/* Returns 1 when it was left out because nobody may ask how far its path can be read. Before the
 * call nobody has read it. */
static int name_program(struct dft_thread *self, struct dft_probe *probe, const struct dft_process_call *what)
{
    int done = what->err ? dft_reading_is_done(what->err) : what->phase == DFT_PHASE_COMPLETE;
    struct dft_text text;
    struct dft_path path;

    if (!what->path || what->dirfd == DFT_SEARCH_PATH)
        return 0;
    if (dft_reading_path(&text, what->path, done))
        return dft_is_sandboxed();
    dft_path_make(self, &path, what->dirfd, text);
    dft_path_define(self, &path);
    probe->file = path.id;
    dft_path_done(&path);
    return 0;
}

void dft_end_process(struct dft_probe *probe, enum dft_call_number call, const struct dft_process_call *what)
{
    uint64_t end = what->phase == DFT_PHASE_BEGIN ? probe->start : dft_ticks(),
             duration = dft_ticks_between(probe->start, end);
    struct dft_thread *self = dft_thread_get();
    struct dft_pieces pieces = {.count = 0};
    struct argument status, command;
    struct dft_slot record;
    int cut;
    struct {
        uint8_t tag;
        uint64_t value;
    } __attribute__((packed)) length = {DFT_ITEM_DURATION, duration};

    if (!self)
        return;
    atomic_store_explicit(&self->home->flight_call, 0, memory_order_relaxed);
    cut = name_program(self, probe, what);
    dft_probe_fill(&record, self, probe, call, end);
    record.bits |= (uint8_t)(what->phase << DFT_SLOT_PHASE_SHIFT);
    record.size = (uint32_t)what->flags;
    record.result = what->result;
    record.err = (uint16_t)what->err;
    if (duration >> 32)
        dft_pieces_add(&pieces, &length, sizeof length);
    if (what->status && dft_config.inc_metadata)
        add_status(self, &pieces, &status, *what->status);
    if (what->command && dft_config.inc_metadata && !dft_config.private_texts)
        cut |= add_command(self, &pieces, &command, what->command);
    if (cut) {
        record.bits |= DFT_BIT_CUT;
        dft_misuse(self, DFT_MISUSE_ARG_CUT, 1);
    }
    dft_ring_put_any(self, &record, &pieces);
}
