/* SPDX-License-Identifier: MIT */
/* Moves one file into another directory, whole or not at all. Within a file system that is a rename.
 * Elsewhere a copy is made under a name that no reader takes for a trace. */
#include "small/collect_move.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/open_regular.h"
#include "base/outfile.h"
#include "base/pread_all.h"
#include "base/whole_file.h"

#define PIECE (1u << 20)

struct move {
    const char *from, *directory;
    char *to, *moving;
    int in;
    struct stat st; /* of the file */
    char *pieces;   /* two */
};

/* --- what is there already -------------------------------------------------------------------- */

/* Does the file lie in the directory, under whatever path? Its removal would remove the only one. */
static int is_in_place(const struct move *move)
{
    struct stat there, directory, parent;
    char *copy = strdup(move->from);
    int found = copy && !stat(move->to, &there) && there.st_dev == move->st.st_dev && there.st_ino == move->st.st_ino &&
                !stat(move->directory, &directory) && !stat(dirname(copy), &parent) &&
                parent.st_dev == directory.st_dev && parent.st_ino == directory.st_ino;

    free(copy);
    return found;
}

/* Does the other file begin with all of ours? A collector may have put more behind it already. */
static int begins_so(const struct move *move, int other)
{
    char *mine = move->pieces, *theirs = move->pieces + PIECE;

    for (off_t at = 0; at < move->st.st_size;) {
        size_t n = move->st.st_size - at < (off_t)PIECE ? (size_t)(move->st.st_size - at) : PIECE;

        if (dft_pread_all(move->in, mine, n, (uint64_t)at) || dft_pread_all(other, theirs, n, (uint64_t)at) ||
            memcmp(mine, theirs, n) != 0)
            return 0;
        at += (off_t)n;
    }
    return 1;
}

static int remove_ours(const struct move *move, int result)
{
    if (!dft_is_still(move->from, &move->st)) /* another one has that name now: it is not ours to remove */
        return result;
    return unlink(move->from) && errno != ENOENT ? -errno : result;
}

static int meet(const struct move *move)
{
    int other = is_in_place(move) ? 0 : dft_open_regular(move->to, O_RDONLY, NULL), same;

    if (!other)
        return DFT_COLLECTED_GONE;
    if (other < 0)
        return other == -EMEDIUMTYPE || other == -EISDIR ? -EEXIST : other;
    same = begins_so(move, other);
    close(other);
    return same ? remove_ours(move, DFT_COLLECTED_SAME) : -EEXIST;
}

/* --- copies ----------------------------------------------------------------------------------- */

static int put(int fd, const char *bytes, size_t length)
{
    while (length) {
        ssize_t n = write(fd, bytes, length);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n ? -errno : -EIO;
        bytes += n;
        length -= (size_t)n;
    }
    return 0;
}

static int fill(const struct move *move, int out)
{
    for (off_t at = 0; at < move->st.st_size;) {
        ssize_t n = pread(move->in, move->pieces, PIECE, at);
        int error = n > 0 ? put(out, move->pieces, (size_t)n) : n < 0 && errno == EINTR ? 0 : n < 0 ? -errno : -EIO;

        if (error)
            return error;
        at += n > 0 ? n : 0;
    }
    return 0;
}

/* The file is of another user, where root collects; a stage that all may write to gives nobody's rights away. */
static int finish(const struct move *move, int out)
{
    int error = dft_whole_file_like_open(out, move->in, &move->st);

    return error ? error : fsync(out) ? -errno : 0;
}

/* A file system may not know how to rename without replacing. */
static int give_name(const char *from, const char *to)
{
    if (!renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE))
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -errno;
    if (!access(to, F_OK))
        return -EEXIST;
    return rename(from, to) ? -errno : 0;
}

/* The name is on the disk, too, before the file goes. A file system that cannot do so does it by
 * itself. */
static void sync_directory(const char *directory)
{
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
}

static int copy(const struct move *move)
{
    int out = open(move->moving, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), error;

    if (out < 0)
        return errno == EEXIST ? -ENOTUNIQ : -errno;
    error = fill(move, out);
    if (!error)
        error = finish(move, out);
    if (close(out) && !error)
        error = -errno;
    if (!error)
        error = give_name(move->moving, move->to);
    if (error) {
        unlink(move->moving);
        return error == -EEXIST ? meet(move) : error;
    }
    sync_directory(move->directory);
    return remove_ours(move, DFT_COLLECTED_MOVED);
}

static int move_it(struct move *move)
{
    int error;

    unlink(move->moving);
    error = give_name(move->from, move->to);
    if (!error && !dft_is_still(move->to, &move->st)) { /* somebody put another one there: that goes back */
        give_name(move->to, move->from);
        return -ESTALE;
    }
    if (!error)
        return DFT_COLLECTED_MOVED;
    return error == -EXDEV ? copy(move) : error == -EEXIST ? meet(move) : error;
}

int dft_collect_move(const char *path, const char *directory)
{
    const char *slash = strrchr(path, '/');
    struct move move = {.from = path, .directory = directory};
    int result = -ENOMEM;

    move.in = dft_open_regular(path, O_RDONLY | O_NOFOLLOW, &move.st);
    if (move.in < 0)
        return move.in == -ENOENT ? DFT_COLLECTED_GONE : move.in;
    move.to = dft_outfile_inside(directory, slash ? slash + 1 : path);
    move.pieces = malloc(2 * PIECE);
    if (move.to && asprintf(&move.moving, "%s.moving", move.to) < 0)
        move.moving = NULL;
    if (move.to && move.pieces && move.moving)
        result = move_it(&move);
    close(move.in);
    free(move.moving);
    free(move.pieces);
    free(move.to);
    return result;
}
