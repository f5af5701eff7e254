/* SPDX-License-Identifier: MIT */
/* Moves what a live file holds into the trace of its process.
 *
 * The source has already made blocks of the live file, and these are appended as they are. The
 * order keeps everything safe: append, fsync, and only then remove the live file. A crash in
 * between leaves ranges that stand twice, which readers drop. */
#include "live/recover.h"
#include "object/source_notes.h"
#include "object/source_texts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/open_regular.h"
#include "base/pread_all.h"
#include "base/whole_file.h"
#include "format/encode.h"
#include "format/live_format.h"

struct append {
    int fd;
    off_t before, at; /* size before; where the next block goes */
};

static int append_bytes(void *context, const void *bytes, size_t length)
{
    struct append *append = context;

    while (length) {
        ssize_t done = pwrite(append->fd, bytes, length, append->at);

        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return done < 0 ? -errno : -EIO;
        bytes = (const char *)bytes + done;
        length -= (size_t)done;
        append->at += done;
    }
    return 0;
}

/* Makes a trace that belongs to whom the live file does, and is no more readable. No other file may have that name. */
static int append_make(struct append *append, const char *path, int live, const struct stat *st)
{
    struct stat like = *st;
    int error;

    like.st_mode &= 0666;
    append->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (append->fd < 0)
        return -errno;
    error = dft_whole_file_like_open(append->fd, live, &like);
    if (error) {
        close(append->fd);
        unlink(path);
    }
    return error;
}

/* Opens the trace, which has lost nothing since it was read. Its owner is the live file's. It may also be ours, unless
 * another user has made this second name for a file of ours. */
static int append_open(struct append *append, const struct dft_source_file *trace, const struct stat *live)
{
    struct stat st;
    int error;

    append->fd = dft_open_regular(trace->path, O_WRONLY | O_NOFOLLOW, &st);
    if (append->fd < 0)
        return append->fd;
    if ((uint64_t)st.st_size < trace->bytes)
        error = -ESTALE;
    else
        error = st.st_uid != live->st_uid && (st.st_uid != geteuid() || st.st_nlink != 1) ? -EPERM : 0;
    if (error)
        close(append->fd);
    append->before = st.st_size;
    append->at = (st.st_size + 7) & ~(off_t)7;
    return error;
}

/* Opens the live file if it is the one that was read. *st: of the file. Returns the descriptor or -errno. */
static int open_live(const struct dft_source_file *live, struct stat *st)
{
    struct dft_live head;
    int fd = dft_open_regular(live->path, O_RDONLY | O_NOFOLLOW, st), error;

    if (fd < 0)
        return fd;
    error = dft_pread_all(fd, &head, sizeof head, 0);
    if (!error && (head.key != live->key || head.start_ns != live->start_ns))
        error = -ESTALE;
    if (error)
        close(fd);
    return error ? error : fd;
}

static int append_close(struct append *append, int error)
{
    if (!error && fsync(append->fd) < 0)
        error = -errno;
    if (error && ftruncate(append->fd, append->before) < 0)
        error = -errno;
    if (close(append->fd) < 0 && !error)
        error = -errno;
    return error;
}

/* Appends the blocks of the live file that no other input has. */
static int put_blocks(struct append *append, const struct dft_source *source, uint32_t live)
{
    static const char zeros[8];
    size_t count;
    uint32_t nfiles;
    const struct dft_block *blocks = dft_source_blocks(source, &count);
    const char *memory = dft_source_files(source, &nfiles)[live].memory;
    int error = 0;

    for (size_t i = 0; i < count && !error; i++) {
        size_t length = sizeof(struct dft_block_header) + blocks[i].stored;

        if (blocks[i].file != live || (blocks[i].state != DFT_BLOCK_USED && blocks[i].state != DFT_BLOCK_OVERLAPS))
            continue;
        error = append_bytes(append, memory + blocks[i].offset, length);
        if (!error)
            error = append_bytes(append, zeros, -length & 7);
    }
    return error;
}

/* Counts the process's own events: its live file also holds those of its vfork children. */
static uint64_t events_in(const struct dft_source *source, const struct dft_source_process *process)
{
    size_t count;
    const struct dft_block *blocks = dft_source_blocks(source, &count);
    uint32_t nfiles;
    uint64_t events = dft_source_files(source, &nfiles)[process->live_file - 1].in_rows;

    for (size_t i = 0; i < count; i++)
        if (blocks[i].file == process->live_file - 1 && blocks[i].process == process->number &&
            blocks[i].type == DFT_BLOCK_EVENTS && blocks[i].first <= blocks[i].last &&
            blocks[i].state == DFT_BLOCK_USED)
            events += blocks[i].count;
    return events;
}

int dft_recover_records(const struct dft_source *source, const struct dft_source_process *process,
                        int (*put)(void *context, const void *block, size_t bytes), void *context)
{
    uint32_t nfiles;
    struct dft_end end;
    struct dft_encoder *encoder;
    const void *block;
    void *memory;
    int error = 0;
    long bytes;

    if (!process->live_file)
        return 0;
    dft_source_end_whole(&process->end, &end);
    memory = mmap(NULL, dft_encoder_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return -ENOMEM;
    encoder = dft_encoder_init(memory);
    if (dft_source_files(source, &nfiles)[process->file].kind != DFT_FILE_TRACE || process->more_kept) {
        struct dft_process more = process->process;

        more.order += process->more_kept;
        bytes = dft_encode_process(encoder, &more, &block);
        error = bytes < 0 ? (int)bytes : put(context, block, (size_t)bytes);
    }
    /* An END from before an exec that failed is not the last END. */
    if (!error && (!process->ended || process->exit_kind == DFT_ENDING_KILLED)) {
        end.key = process->key;
        end.exit_kind = process->exit_kind;
        end.events += events_in(source, process);
        bytes = dft_encode_end(encoder, &end, &block);
        error = bytes < 0 ? (int)bytes : put(context, block, (size_t)bytes);
    }
    munmap(memory, dft_encoder_bytes());
    return error;
}

/* Names the trace as the live file without its last ending. */
static char *new_trace(const char *live)
{
    size_t length = strlen(live), tail = strlen(".live");

    return length > tail && strcmp(live + length - tail, ".live") == 0 ? strndup(live, length - tail) : NULL;
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Finds the input that is this live file's trace by its name, which holds the key. The trace must
 * contain only zeros. The process of such a trace ended before its first block was whole. Trace and
 * live file may lie in different directories. */
static const struct dft_source_file *blank_trace(const struct dft_source *source, const char *live)
{
    uint32_t nfiles;
    const struct dft_source_file *files = dft_source_files(source, &nfiles);

    for (uint32_t i = 0; i < nfiles; i++) {
        const char *name = name_of(files[i].path);
        size_t length = strlen(name);

        if (files[i].kind == DFT_FILE_TRACE && !strncmp(name_of(live), name, length) &&
            !strcmp(name_of(live) + length, ".live") && !files[i].error && !files[i].blocks &&
            !files[i].skipped.damaged && !files[i].skipped.bytes)
            return &files[i];
    }
    return NULL;
}

/* Finds the trace that the live file is moved into; NULL: there is none. The process may also stand
 * in copies and archives. */
static const struct dft_source_file *trace_of(const struct dft_source *source, const struct dft_source_process *process)
{
    uint32_t nfiles;
    const struct dft_source_file *files = dft_source_files(source, &nfiles), *live = &files[process->live_file - 1];

    if (live->trace)
        return &files[live->trace - 1];
    return files[process->file].kind == DFT_FILE_TRACE ? &files[process->file] : blank_trace(source, live->path);
}

int dft_recover(struct dft_source *source, const struct dft_source_process *process)
{
    uint32_t nfiles, number = process->live_file - 1;
    const struct dft_source_file *live = &dft_source_files(source, &nfiles)[number];
    struct dft_source_process dead = *process;
    const struct dft_source_file *trace = trace_of(source, process);
    char *path = trace ? strdup(trace->path) : new_trace(live->path);
    struct append append = {.fd = -1};
    struct stat st;
    int make = !trace, fd = path ? open_live(live, &st) : -ENOMEM, error = fd < 0 ? fd : 0;

    if (dead.exit_kind == DFT_ENDING_UNKNOWN)
        dead.exit_kind = DFT_ENDING_KILLED;
    if (!error)
        error = make ? append_make(&append, path, fd, &st) : append_open(&append, trace, &st);
    if (!error) {
        error = put_blocks(&append, source, number);
        if (!error)
            error = dft_recover_records(source, &dead, append_bytes, &append);
        error = append_close(&append, error);
        if (error && make)
            unlink(path);
    }
    if (!error && dft_is_still(live->path, &st) && unlink(live->path) < 0 && errno != ENOENT)
        error = -errno;
    if (fd >= 0)
        close(fd);
    if (error)
        dft_source_note(source, 1, "%s: could not be moved into %s: %s", live->path, path ? path : "its trace",
                        dft_open_reason(-error));
    else
        dft_source_note(source, 0, "%s: moved into %s", live->path, path);
    free(path);
    return error;
}
