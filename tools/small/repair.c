/* SPDX-License-Identifier: MIT */
/* Writes a damaged trace anew: under a temporary name, then the damaged file gets another name
 * beside it, and the new one takes its place. At every moment one of the two has the name. */
#include "small/repair.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/open_regular.h"
#include "base/outfile.h"
#include "live/source_life.h"
#include "object/source_notes.h"
#include "intake/source_read.h"

#define NAMES_MAX 100

static int put_block(FILE *stream, const struct dft_block_header *header, const void *payload)
{
    static const char zeros[8];
    size_t length = sizeof *header + header->stored, padding = -length & 7;

    errno = 0;
    if (fwrite((const char *)payload - sizeof *header, 1, length, stream) != length ||
        fwrite(zeros, 1, padding, stream) != padding)
        return errno ? -errno : -EIO;
    return 0;
}

/* All blocks of the file, in its order; an index tells of places that are no more. */
static int copy_blocks(struct dft_source *source, uint32_t file, const uint8_t *bad, FILE *stream)
{
    size_t count;
    const struct dft_block *blocks = dft_source_blocks(source, &count);
    struct dft_reader *reader = dft_reader_create(source);
    int error = reader ? 0 : -ENOMEM;

    for (size_t i = 0; i < count && !error; i++) {
        struct dft_block_header header;
        const void *payload;

        if (blocks[i].file != file || blocks[i].type == DFT_BLOCK_INDEX || bad[i])
            continue;
        error = dft_reader_block(reader, &blocks[i], &header, &payload);
        if (!error)
            error = put_block(stream, &header, payload);
    }
    dft_reader_destroy(reader);
    return error;
}

/* Has another file taken the name since it was opened? It would then be the one that is kept. */
static int check_kept(const char *kept, const struct stat *st)
{
    if (dft_is_still(kept, st))
        return 0;
    unlink(kept);
    return -ESTALE;
}

/* Another name for the damaged file. Where there are no links it loses its own. */
static int keep(const char *path, const struct stat *st, char **kept)
{
    for (int n = 1; n < NAMES_MAX; n++) {
        if (asprintf(kept, n > 1 ? "%s.damaged.%d" : "%s.damaged", path, n) < 0) {
            *kept = NULL;
            return -ENOMEM;
        }
        if (!link(path, *kept))
            return check_kept(*kept, st);
        if (errno != EEXIST && access(*kept, F_OK) && !rename(path, *kept))
            return 0;
        if (errno != EEXIST)
            return -errno;
        free(*kept);
        *kept = NULL;
    }
    return -EEXIST;
}

/* The damaged file has its name again, and that alone. */
static void undo_keep(const char *path, const struct stat *st, const char *kept)
{
    if (dft_is_still(path, st))
        unlink(kept);
    else if (access(path, F_OK))
        rename(kept, path);
}

/* All bytes are on the disk before the damaged file gets another name: there may be no room for them. */
static int flush(struct dft_outfile *out)
{
    if (fflush(out->stream))
        return out->error ? out->error : -EIO;
    return fsync(fileno(out->below)) && errno != EINVAL ? -errno : 0;
}

/* Is there one that still writes into this file, or may be? */
static enum dft_life life_of_writers(const struct dft_source *source, uint32_t file)
{
    uint32_t nprocesses;
    size_t count;
    const struct dft_block *blocks = dft_source_blocks(source, &count);
    const struct dft_source_process *processes = dft_source_processes(source, &nprocesses);
    enum dft_life life = DFT_LIFE_OVER;

    for (size_t i = 0; i < count && life != DFT_LIFE_RUNNING; i++) {
        enum dft_life one = blocks[i].file == file ? dft_process_life(&processes[blocks[i].process]) : DFT_LIFE_OVER;

        if (one != DFT_LIFE_OVER)
            life = one;
    }
    return life;
}

/* The file may lie where nobody meant to write. */
static int note_link(struct dft_source *source, const char *path)
{
    char *real = realpath(path, NULL);

    dft_source_note(source, 1, "%s: not written anew, because it is a symbolic link: name %s", path,
                    real ? real : "the file itself");
    free(real);
    return -ELOOP;
}

int dft_repair(struct dft_source *source, uint32_t file, const uint8_t *bad, int force)
{
    uint32_t nfiles;
    const struct dft_source_file *damaged = &dft_source_files(source, &nfiles)[file];
    enum dft_life life = life_of_writers(source, file);
    struct dft_outfile out = {0};
    char *kept = NULL;
    struct stat st;
    int error, fd;

    if (life == DFT_LIFE_RUNNING || (life == DFT_LIFE_UNKNOWN && !force)) {
        dft_source_note(source, life == DFT_LIFE_UNKNOWN, "%s: not written anew: %s", damaged->path,
                        life == DFT_LIFE_RUNNING ? "its process is still running"
                                                 : "whether its process still runs cannot be seen from here. --force "
                                                   "says that it does not");
        return -EBUSY;
    }
    fd = dft_open_regular(damaged->path, O_RDONLY | O_NOFOLLOW, &st);
    if (fd == -ELOOP)
        return note_link(source, damaged->path);
    error = fd < 0 ? fd : dft_outfile_open_inside(&out, damaged->path);
    if (!error)
        error = copy_blocks(source, file, bad, out.stream);
    if (!error)
        error = flush(&out);
    if (!error)
        error = keep(damaged->path, &st, &kept);
    if (!error) {
        error = dft_outfile_commit(&out, 1);
        if (error)
            undo_keep(damaged->path, &st, kept);
    }
    dft_outfile_abort(&out);
    if (fd >= 0)
        close(fd); /* until now no other file can have had its inode */
    if (error)
        dft_source_note(source, 1, "%s: could not be written anew: %s", damaged->path, dft_open_reason(-error));
    else
        dft_source_note(source, 0, "%s: written anew with all that could be read; the damaged file is %s now",
                        damaged->path, kept);
    free(kept);
    return error;
}
