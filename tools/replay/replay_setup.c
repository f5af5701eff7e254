/* SPDX-License-Identifier: MIT */
/* Makes what a replay begins with. Nothing follows a link: each folder is opened from the one above it. */
#include "replay/replay_setup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/names.h"
#include "base/write_text.h"
#include "replay/replay_buffers.h"
#include "replay/replay_threads.h"
#include "intake/source_names.h"

#define MODE     0755  /* programs are looked for by access(X_OK) */
#define TOGETHER 4096u /* names whose texts are fetched at once */

struct setup {
    const struct dft_replay_plan *plan;
    const struct dft_replay_root *root;
    const struct dft_names *names;
};

int dft_replay_setup_check(const struct dft_replay_plan *plan, const struct dft_replay_root *root)
{
    char need[DFT_TEXT_ROOM], is[DFT_TEXT_ROOM];

    if (plan->need_bytes > root->bytes_free) {
        fprintf(stderr,
                "dftmerge replay: --root %s: the files need up to %s, and %s are free. Name a folder with more space, "
                "or repeat a part: --rank, --to\n",
                root->path, dft_text_bytes(need, plan->need_bytes), dft_text_bytes(is, root->bytes_free));
        return -ENOSPC;
    }
    if (plan->need_inodes <= root->inodes_free)
        return 0;
    fprintf(stderr, "dftmerge replay: --root %s: up to %s files are needed, and %s can be made there\n", root->path,
            dft_text_count(need, plan->need_inodes), dft_text_count(is, root->inodes_free));
    return -ENOSPC;
}

/* Did the trace itself make this folder? */
static int is_made_later(const struct setup *setup, const char *path, size_t length)
{
    const struct dft_replay_file *file = dft_replay_file_find(&setup->plan->resolver.files, path, length);

    return file && file->start == DFT_START_ABSENT;
}

/* Opens the folder of a path, and makes what of it is missing; *name is the last component. Returns its descriptor,
 * -errno, or -ENOENT: the trace makes a folder on the way. */
static int open_folder(const struct setup *setup, char *path, const char **name)
{
    int at = dup(setup->root->fd);
    char *from = path + 1, *slash;

    if (at < 0)
        return -errno;
    while ((slash = strchr(from, '/'))) {
        int next, error;

        if (is_made_later(setup, path, (size_t)(slash - path))) {
            close(at);
            return -ENOENT;
        }
        *slash = 0;
        if (mkdirat(at, from, 0777) && errno != EEXIST)
            next = -1;
        else
            next = openat(at, from, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        error = errno;
        *slash = '/';
        close(at);
        if (next < 0)
            return -error;
        at = next;
        from = slash + 1;
    }
    *name = from;
    return at;
}

static int fill(int fd, uint64_t size)
{
    uint64_t done = 0;

    while (done < size && !dft_replay_is_stopped()) {
        size_t bytes = size - done < DFT_REPLAY_PIECE ? (size_t)(size - done) : DFT_REPLAY_PIECE;
        ssize_t n = pwrite(fd, dft_replay_pattern(), bytes, (off_t)done);

        if (n < 0 && errno != EINTR)
            return -errno;
        done += n > 0 ? (uint64_t)n : 0;
    }
    return 0;
}

static int make_file(int folder, const char *name, uint64_t size)
{
    int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, MODE), rc;

    if (fd < 0)
        return errno == EEXIST ? 0 : -errno; /* a folder that files lie in */
    rc = fill(fd, size);
    if (close(fd) && !rc)
        rc = -errno;
    return rc;
}

static int make(const struct setup *setup, const struct dft_replay_file *file)
{
    struct dft_text text = dft_names_text(setup->names, file->name);
    char path[DFT_REPLAY_PATH_MAX];
    size_t length = text.bytes ? dft_replay_path(path, text) : 0;
    const char *name = NULL;
    int folder, rc = 0;

    if (length < 2)
        return 0;
    folder = open_folder(setup, path, &name);
    if (folder == -ENOENT)
        return 0;
    if (folder < 0)
        rc = folder;
    else if (file->start == DFT_START_FOLDER)
        rc = mkdirat(folder, name, 0777) && errno != EEXIST ? -errno : 0;
    else if (file->start == DFT_START_FILE)
        rc = make_file(folder, name, file->start_size);
    if (folder >= 0)
        close(folder);
    if (rc == -ENOTDIR || rc == -EISDIR || rc == -ENAMETOOLONG)
        return 0; /* the recorded calls on it fail, and are counted */
    if (rc)
        fprintf(stderr, "dftmerge replay: %s%s: %s\n", setup->root->path, path, strerror(-rc));
    return rc;
}

/* Folders are made before files: which of the two a path is, only those tell that lie below it. */
static int is_wanted(const struct dft_replay_file *file, int folders)
{
    if (!file->name || file->left || !file->parent)
        return 0;
    return folders ? file->start == DFT_START_FOLDER || (file->touched && file->start == DFT_START_ABSENT)
                   : file->start == DFT_START_FILE;
}

static int make_some(const struct setup *setup, struct dft_source *source, const struct dft_replay_file *const *list,
                     size_t count)
{
    uint64_t ids[TOGETHER] = {0};
    int rc;

    for (size_t i = 0; i < count; i++)
        ids[i] = list[i]->name;
    rc = dft_source_names_lend(source, ids, count, 1);
    for (size_t i = 0; !rc && i < count && !dft_replay_is_stopped(); i++)
        rc = make(setup, list[i]);
    dft_source_names_return(source);
    return rc;
}

static int make_all(const struct setup *setup, struct dft_source *source, int folders)
{
    const struct dft_replay_file **list = malloc(TOGETHER * sizeof *list);
    const struct dft_replay_files *files = &setup->plan->resolver.files;
    size_t n = 0;
    int rc = list ? 0 : -ENOMEM;

    for (size_t i = 0; !rc && i < files->count; i++) {
        const struct dft_replay_file *file = dft_replay_file_at(files, i);

        if (is_wanted(file, folders))
            list[n++] = file;
        if (n == TOGETHER || (n && i + 1 == files->count)) {
            rc = make_some(setup, source, list, n);
            n = 0;
        }
    }
    free(list);
    return rc;
}

int dft_replay_setup(const struct dft_replay_plan *plan, const struct dft_replay_root *root, struct dft_source *source)
{
    const struct setup setup = {plan, root, dft_source_names_table(source)};
    int rc = make_all(&setup, source, 1);

    if (!rc)
        rc = make_all(&setup, source, 0);
    if (!rc && !dft_replay_is_stopped())
        syncfs(root->fd); /* what is written back later would be in the way */
    return rc;
}
