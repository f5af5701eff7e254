/* SPDX-License-Identifier: MIT */
/* Decides under which name the calls on a file are counted, where aggregates alone are kept. */
#include "rows/rows_inside.h"

#include "format/file_class.h"
#include "format/hash.h"
#include "os/sys.h"
#include "thread/append.h"

/* The class is written behind the name, too: a handler may define another name meanwhile. */
static void send(struct dft_thread *self, uint64_t id, struct dft_text text, enum dft_io io)
{
    volatile uint8_t *known = &self->sent_io[id & (DFT_SENT_NAMES - 1)];

    *known = (uint8_t)io;
    dft_name_send(self, id, text);
    *known = (uint8_t)io;
}

static void send_directory(struct dft_thread *self, uint64_t id, struct dft_text path)
{
    send(self, id, path, dft_file_class(path.bytes, path.length));
}

/* Any files. The path is none that a file has: a program may call on the root directory itself. */
static uint64_t define_root(struct dft_thread *self)
{
    uint64_t id = dft_name_id("//", 2);

    if (!dft_name_was_sent(self, id))
        send_directory(self, id, (struct dft_text){"//", 2});
    return id;
}

/* The length of the directory's path, with its slash. */
static uint32_t directory_of(struct dft_text path)
{
    uint32_t length = path.length;

    while (length > 1 && path.bytes[length - 1] != '/')
        length--;
    return length;
}

/* Writes the rows of files, so that other files get rows, if that was not done shortly before. */
static int make_room_for_files(struct dft_thread *self)
{
    return dft_rows_may_flush_files(self->rows) && dft_rows_make_room(self, DFT_LIVE_FILES_WRITTEN);
}

/* The directory that the file counts for: its own, where there is room for it, else the nearest one
 * above it that is known. */
static uint64_t define_directory(struct dft_thread *self, struct dft_text path)
{
    int has_room = dft_rows_has_room(self->rows, 1);

    for (path.length = directory_of(path); path.length > 1; path.length = directory_of(path)) {
        uint64_t id = dft_name_id(path.bytes, path.length);

        if (dft_name_was_sent(self, id))
            return id;
        if (has_room) {
            send_directory(self, id, path);
            return id;
        }
        path.length--; /* without its slash */
    }
    return define_root(self);
}

/* So that later calls on the file can count for its directory. */
static void note_directory(struct dft_thread *self, uint64_t file, struct dft_text path)
{
    struct dft_rows *rows = self->rows;
    uint32_t at = file & (DFT_SENT_NAMES - 1);
    uint64_t id;

    path.length = directory_of(path);
    if (!path.length || path.bytes[path.length - 1] != '/')
        return;
    id = dft_name_id(path.bytes, path.length);
    if (!dft_name_was_sent(self, id))
        send_directory(self, id, path);
    rows->directories[at].file = 0;
    rows->directories[at].directory = id;
    rows->directories[at].file = file;
}

uint64_t dft_rows_define(struct dft_thread *self, uint64_t id, struct dft_text path, enum dft_io io)
{
    if (!dft_vfork_mark && path.bytes[0] == '/' && !dft_rows_admits(self->rows) && !make_room_for_files(self))
        return define_directory(self, path);
    send(self, id, path, io);
    note_directory(self, id, path);
    return id;
}

uint64_t dft_rows_directory_of(struct dft_thread *self, uint64_t id)
{
    const struct dft_rows *rows = self->rows;
    uint32_t at = id & (DFT_SENT_NAMES - 1);

    return rows->directories[at].file == id ? rows->directories[at].directory : define_root(self);
}
