/* SPDX-License-Identifier: MIT */
/* Owns what threads know of directories: the working one, and those behind descriptors. */
#include "probe/directories.h"

#include <string.h>

#include "os/self.h"
#include "os/proc.h"
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

/* A directory that was removed, or lies on no mount any more, is known by its last name alone. */
uint32_t dft_directory_ask(char *text, size_t capacity)
{
    long n = DFT_SYS(getcwd, text, capacity, 0, 0, 0, 0);

    if (n > 0 && text[0] == '/')
        return (uint32_t)n - 1;
    n = dft_proc_link("cwd", text, capacity);
    if (n > DFT_PROC_DELETED_LENGTH &&
        !memcmp(text + n - DFT_PROC_DELETED_LENGTH, DFT_PROC_DELETED, DFT_PROC_DELETED_LENGTH))
        n -= DFT_PROC_DELETED_LENGTH;
    return n > 0 && n < (long)capacity && text[0] == '/' ? (uint32_t)n : 0;
}

const char *dft_directory_of_work(struct dft_thread *self, uint32_t *length)
{
    uint64_t version = __atomic_load_n(&directory_version, __ATOMIC_RELAXED);
    int unsure = __atomic_load_n(&walks, __ATOMIC_RELAXED) != 0;

    if (self->cwd_version != version || dft_vfork_mark || unsure) {
        self->cwd_length = dft_directory_ask(self->cwd, sizeof self->cwd);
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

/* The serial number of a descriptor's description. A name does not tell: it may be another
 * directory's after a rename. */
static uint32_t description_of(uint64_t word)
{
    return word & DFT_FD_TRACED ? dft_fd_open(word)->serial : 0;
}

static int is_directory(const struct dft_dir *dir, int fd, uint64_t word, uint32_t description)
{
    return (description ? dir->description == description : dir->fd == fd && dir->word == word) && dir->length &&
           dir->renames == __atomic_load_n(&renames, __ATOMIC_RELAXED);
}

static volatile uint32_t *length_of(struct dft_dir *dir)
{
    return &dir->length;
}

static uint32_t version_of(const struct dft_dir *dir)
{
    return *(const volatile uint32_t *)&dir->version;
}

/* Copies what is to be kept. A signal handler that keeps another one in the middle of this leaves a
 * mix, which is dropped; to the handler there is nothing meanwhile. Returns whether it is there. */
static int keep(struct dft_dir *dir, const struct dft_dir *from, const char *text)
{
    uint32_t version, length = from->length;

    *length_of(dir) = 0;
    version = ++dir->version;
    dir->word = from->word;
    dir->renames = from->renames;
    dir->fd = from->fd;
    dir->description = from->description;
    memcpy(dir->text, text, length);
    *length_of(dir) = length;
    if (version_of(dir) == version)
        return length != 0;
    *length_of(dir) = 0;
    return 0;
}

static int keep_new(struct dft_dir *dir, int fd, const char *text, uint32_t length)
{
    uint64_t word = dft_fd_word(fd);
    const struct dft_dir new = {.word = word,
                                .renames = __atomic_load_n(&renames, __ATOMIC_RELAXED),
                                .fd = fd,
                                .description = description_of(word),
                                .length = word && length <= DFT_DIR_TEXT && !dft_vfork_mark ? length : 0};

    return keep(dir, &new, text);
}

/* The last file opened turns out to be a directory. NULL: a signal handler opened another one
 * meanwhile. */
static const struct dft_dir *keep_opened(struct dft_thread *self)
{
    struct dft_dir *dir = &self->dirs[self->dirs_at++ % DFT_DIRS];
    uint32_t version = version_of(&self->opened);

    if (keep(dir, &self->opened, self->opened.text) && version_of(&self->opened) == version)
        return dir;
    *length_of(dir) = 0;
    return NULL;
}

/* Looks first where the last one was found. */
const struct dft_dir *dft_directory_find(struct dft_thread *self, int fd)
{
    uint64_t word = self ? dft_fd_word(fd) : 0;
    uint32_t description = description_of(word);

    if (word && is_directory(&self->dirs[self->dirs_found], fd, word, description))
        return &self->dirs[self->dirs_found];
    for (uint32_t i = 0; i < DFT_DIRS && word; i++)
        if (is_directory(&self->dirs[i], fd, word, description)) {
            self->dirs_found = i;
            return &self->dirs[i];
        }
    return word && is_directory(&self->opened, fd, word, description) ? keep_opened(self) : NULL;
}

void dft_directory_keep(struct dft_thread *self, int fd, const char *text, uint32_t length)
{
    if (self)
        keep_new(&self->dirs[self->dirs_at++ % DFT_DIRS], fd, text, length);
}

void dft_directory_remember(struct dft_thread *self, const struct dft_path *path, int fd, int is_directory)
{
    if (is_directory)
        dft_directory_keep(self, fd, path->text, path->length);
    else if (self)
        keep_new(&self->opened, fd, path->text, path->length);
}
