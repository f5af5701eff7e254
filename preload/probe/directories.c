/* SPDX-License-Identifier: MIT */
/* Owns what threads know of directories: the working one, and those behind descriptors. */
#include "probe/directories.h"

#include <string.h>

#include "os/self.h"
#include "os/sys.h"
#include "tables/fdtable.h"

static uint64_t directory_version = 1; /* atomic */

void dft_directory_of_work_changed(void)
{
    __atomic_add_fetch(&directory_version, 1, __ATOMIC_RELAXED);
}

static uint64_t renames; /* atomic */

void dft_directories_renamed(void)
{
    __atomic_add_fetch(&renames, 1, __ATOMIC_RELAXED);
    dft_directory_of_work_changed();
}

/* Walks that change the working directory and back again: until they are over nobody knows where it
 * is. */
static uint32_t walks; /* atomic */

void dft_directories_walking(int more)
{
    __atomic_add_fetch(&walks, (uint32_t)more, __ATOMIC_RELAXED);
    dft_directory_of_work_changed();
}

const char *dft_directory_of_work(struct dft_thread *self, uint32_t *length)
{
    uint64_t version = __atomic_load_n(&directory_version, __ATOMIC_RELAXED);
    int unsure = __atomic_load_n(&walks, __ATOMIC_RELAXED) != 0;

    if (self->cwd_version != version || dft_vfork_mark || unsure) {
        long n = DFT_SYS(getcwd, self->cwd, sizeof self->cwd, 0, 0, 0, 0);

        self->cwd_length = n > 0 && self->cwd[0] == '/' ? (uint32_t)n - 1 : 0;
        self->cwd_version = unsure || dft_in_vfork_child() ? 0 : version;
    }
    *length = self->cwd_length;
    return self->cwd;
}

void dft_directory_of_work_know(struct dft_thread *self)
{
    uint32_t length;

    dft_directory_of_work(self, &length);
}

/* The file of a descriptor with this word; 0: none is known. */
static uint64_t file_of(uint64_t word)
{
    return word & DFT_FD_TRACED ? dft_fd_open(word)->file : 0;
}

static int is_directory(const struct dft_dir *dir, int fd, uint64_t word, uint64_t file)
{
    return (file ? dir->file == file : dir->fd == fd && dir->word == word) && dir->length &&
           dir->renames == __atomic_load_n(&renames, __ATOMIC_RELAXED);
}

/* The last file opened turns out to be a directory. NULL: a signal handler opened another one
 * meanwhile. */
static const struct dft_dir *keep_opened(struct dft_thread *self)
{
    struct dft_dir *dir = &self->dirs[self->dirs_at++ % DFT_DIRS];
    uint32_t version = *(volatile uint32_t *)&self->opened.version;

    memcpy(dir, &self->opened, sizeof *dir);
    if (*(volatile uint32_t *)&self->opened.version == version)
        return dir;
    dir->length = 0;
    return NULL;
}

/* Looks first where the last one was found. */
const struct dft_dir *dft_directory_find(struct dft_thread *self, int fd)
{
    uint64_t word = self ? dft_fd_word(fd) : 0, file = file_of(word);

    if (word && is_directory(&self->dirs[self->dirs_found], fd, word, file))
        return &self->dirs[self->dirs_found];
    for (uint32_t i = 0; i < DFT_DIRS && word; i++)
        if (is_directory(&self->dirs[i], fd, word, file)) {
            self->dirs_found = i;
            return &self->dirs[i];
        }
    return word && is_directory(&self->opened, fd, word, file) ? keep_opened(self) : NULL;
}

/* A signal handler that keeps another one in the middle of this leaves a mix, which is dropped. */
static void keep(struct dft_dir *dir, int fd, const char *text, uint32_t length)
{
    uint64_t word = dft_fd_word(fd);
    uint32_t version = ++dir->version;

    dir->length = 0;
    if (!word || length > DFT_DIR_TEXT || dft_vfork_mark)
        return;
    dir->file = file_of(word);
    dir->fd = fd;
    dir->word = word;
    dir->renames = __atomic_load_n(&renames, __ATOMIC_RELAXED);
    memcpy(dir->text, text, length);
    *(volatile uint32_t *)&dir->length = length;
    if (*(volatile uint32_t *)&dir->version != version)
        dir->length = 0;
}

void dft_directory_keep(struct dft_thread *self, int fd, const char *text, uint32_t length)
{
    if (self)
        keep(&self->dirs[self->dirs_at++ % DFT_DIRS], fd, text, length);
}

void dft_directory_remember(struct dft_thread *self, const struct dft_path *path, int fd, int is_directory)
{
    if (is_directory)
        dft_directory_keep(self, fd, path->text, path->length);
    else if (self)
        keep(&self->opened, fd, path->text, path->length);
}
