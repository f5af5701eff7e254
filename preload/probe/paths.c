/* SPDX-License-Identifier: MIT */
/* Owns the meaning of paths. */
#include "probe/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include "store/counters.h"
#include "store/mounts.h"
#include "store/process_start.h"
#include "format/event.h"
#include "format/hash.h"
#include "format/vector.h"
#include "tables/fdtable.h"
#include "probe/directories.h"
#include "probe/probe.h"
#include "os/line.h"
#include "os/proc.h"
#include "settings/rules.h"
#include "ring/ring.h"
#include "rows/rows.h"
#include "probe/traced.h"
#include "ring/pending_names.h"

#define TOO_LONG "/(too long)"
#define LONGEST  16384u

/* --- making paths ----------------------------------------------------------------------------- */

static long read_fd_link(int fd, char *text, size_t capacity)
{
    return fd < 0 ? -1 : dft_proc_fd_link((unsigned)fd, text, capacity);
}

/* Room for `length` bytes. Returns 0 or -1. */
static int make_room(struct dft_path *path, size_t length)
{
    path->text = path->buffer;
    if (length <= DFT_PATH_ROOM)
        return 0;
    if (length > LONGEST - DFT_PATH_SPARE)
        return -1;
    path->more = dft_sys_map(LONGEST);
    path->text = path->more;
    return path->more ? 0 : -1;
}

void dft_path_done(struct dft_path *path)
{
    if (path->more)
        DFT_SYS(munmap, path->more, LONGEST, 0, 0, 0, 0);
}

void dft_path_replace(struct dft_path *path, struct dft_path *other)
{
    dft_path_done(path);
    *path = *other;
    path->text = path->more ? path->more : path->buffer;
}

/* Does this slash begin a component that is empty, `.` or `..`? A slash ends the text. */
static inline int begins_nothing(const char *slash)
{
    return slash[1] == '/' || (slash[1] == '.' && (slash[2] == '/' || (slash[2] == '.' && slash[3] == '/')));
}

/* The first such slash from `at` on, or `length`. Writes one byte behind the text, and reads up to
 * 16, which have no say. */
static inline uint32_t find_nothing(char *text, uint32_t at, uint32_t length)
{
    const dft_vector slashes = dft_vector_of('/'), dots = dft_vector_of('.');

    text[length] = '/';
    for (; at < length; at += sizeof slashes) {
        const dft_vector now = *(const dft_vector *)(text + at), next = *(const dft_vector *)(text + at + 1);
        uint32_t found = dft_vector_bits((dft_vector)((now == slashes) & ((next == slashes) | (next == dots))));

        if (length - at < sizeof slashes)
            found &= (1u << (length - at)) - 1;
        for (; found; found &= found - 1)
            if (begins_nothing(text + at + __builtin_ctz(found)))
                return at + (uint32_t)__builtin_ctz(found);
    }
    return length;
}

/* Removes empty, `.` and `..` components in place; the text starts with a slash, and before `from`,
 * where one stands, there are none. Returns the new length. */
static __attribute__((noinline)) uint32_t clean(char *text, uint32_t from, uint32_t length)
{
    uint32_t to = from;

    while (from < length) {
        uint32_t end;

        while (from < length && text[from] == '/')
            from++;
        for (end = from; end < length && text[end] != '/';)
            end++;
        if (end == from)
            break;
        if (end - from == 2 && text[from] == '.' && text[from + 1] == '.') {
            while (to && text[--to] != '/')
                ;
        } else if (!(end - from == 1 && text[from] == '.')) {
            text[to++] = '/';
            memmove(text + to, text + from, end - from);
            to += end - from;
        }
        from = end;
    }
    if (!to)
        text[to++] = '/';
    return to;
}

/* The path is what (dirfd, name) means. */
static inline void judge(struct dft_path *path, int dirfd, struct dft_text name)
{
    path->id = dft_name_id(path->text, path->length);
    path->traced = dft_traced_name((struct dft_text){path->text, path->length}, dirfd, name);
}

/* The path as it stands is all that is known. */
static void judge_itself(struct dft_path *path)
{
    judge(path, AT_FDCWD, (struct dft_text){path->text, path->length});
}

/* No: the file at that path is this one, it is called so. The text is not terminated. */
static int is_called_so(int fd, char *text, long length, long capacity)
{
    struct stat at, open;

    if (length >= capacity)
        return 0;
    text[length] = 0;
    return DFT_SYS(newfstatat, AT_FDCWD, text, &at, AT_SYMLINK_NOFOLLOW, 0, 0) == 0 &&
           DFT_SYS(fstat, fd, &open, 0, 0, 0, 0) == 0 && at.st_ino == open.st_ino && at.st_dev == open.st_dev;
}

static char *add_text(char *at, const char *text)
{
    size_t length = strlen(text);

    memcpy(at, text, length);
    return at + length;
}

static char *add_number(char *at, uint64_t number)
{
    char digits[DFT_DIGITS_ROOM];

    return add_text(at, dft_digits(digits, number, 10));
}

static const char *root_of(int fd, const struct stat *st)
{
    struct statfs fs = {0};

    if (S_ISCHR(st->st_mode) || S_ISBLK(st->st_mode))
        return "/dev";
    DFT_SYS(fstatfs, fd, &fs, 0, 0, 0, 0);
    return fs.f_type == PROC_SUPER_MAGIC ? "/proc" : fs.f_type == SYSFS_MAGIC ? "/sys" : "";
}

/* What is known of a descriptor whose name nobody tells: of a pipe and a socket all, of others the device and
 * the inode. Returns the length. */
static long name_by_number(int fd, char text[DFT_PATH_ROOM])
{
    struct stat st;
    char *at = text;
    int is_pipe;

    if (DFT_SYS(fstat, fd, &st, 0, 0, 0, 0) < 0)
        return add_text(text, DFT_UNNAMED) - text;
    is_pipe = S_ISFIFO(st.st_mode);
    if (is_pipe || S_ISSOCK(st.st_mode) || !(st.st_mode & S_IFMT)) {
        at = add_text(at, is_pipe ? "pipe:[" : S_ISSOCK(st.st_mode) ? "socket:[" : "anon_inode:[");
        *(at = add_number(at, st.st_ino)) = ']';
        return at + 1 - text;
    }
    at = add_text(add_text(at, root_of(fd, &st)), DFT_UNNAMED "/");
    at = add_number(add_text(add_number(at, major(st.st_dev)), ":"), minor(st.st_dev));
    return add_number(add_text(at, "/"), st.st_ino) - text;
}

long dft_path_of_fd(struct dft_path *path, int fd)
{
    long flags = DFT_SYS(fcntl, fd, F_GETFL, 0, 0, 0, 0), n;

    path->more = NULL;
    path->text = path->buffer;
    path->id = 0;
    path->traced = 0;
    n = flags == -EBADF ? flags : read_fd_link(fd, path->buffer, DFT_PATH_ROOM);
    dft_counters_meet(path->buffer, n);
    path->unnamed = flags >= 0 && n < 0 && n != -ENAMETOOLONG && !dft_is_sandboxed();
    if (path->unnamed)
        n = name_by_number(fd, path->buffer);
    if (n == DFT_PATH_ROOM && !make_room(path, LONGEST - DFT_PATH_SPARE))
        n = read_fd_link(fd, path->text, LONGEST - DFT_PATH_SPARE);
    if (n == -ENAMETOOLONG) { /* longer than the kernel can say: reached by way of descriptors */
        n = sizeof TOO_LONG - 1;
        memcpy(path->text, TOO_LONG, (size_t)n);
    }
    path->length = n > 0 ? (uint32_t)n : 0;
    if (n > DFT_PROC_DELETED_LENGTH &&
        !memcmp(path->text + n - DFT_PROC_DELETED_LENGTH, DFT_PROC_DELETED, DFT_PROC_DELETED_LENGTH) &&
        !is_called_so(fd, path->text, n, path->more ? LONGEST - DFT_PATH_SPARE : DFT_PATH_ROOM))
        path->length -= DFT_PROC_DELETED_LENGTH;
    if (path->length && (path->text[0] == '/' || dft_traced_link(path->text, path->length))) {
        judge_itself(path);
        path->traced |= path->text[0] != '/';
    }
    return flags;
}

/* base + "/" + name. The base is clean, and may end with a slash. */
static void join(struct dft_path *path, const char *base, uint32_t base_length, const char *name, size_t length)
{
    uint32_t unclean;

    if (base_length && base[base_length - 1] == '/')
        base_length--;
    if (make_room(path, base_length + 1 + length))
        return;
    memcpy(path->text, base, base_length);
    path->text[base_length] = '/';
    memcpy(path->text + base_length + 1, name, length);
    path->length = base_length + 1 + (uint32_t)length;
    unclean = find_nothing(path->text, base_length, path->length);
    if (unclean < path->length)
        path->length = clean(path->text, unclean, path->length);
}

static void make_empty(struct dft_path *path)
{
    path->more = NULL;
    path->id = 0;
    path->traced = 0;
    path->length = 0;
    path->text = path->buffer;
}

void dft_path_below(struct dft_path *path, const char *folder, struct dft_text name)
{
    make_empty(path);
    while (name.length && *name.bytes == '/')
        name = (struct dft_text){name.bytes + 1, name.length - 1};
    if (name.length)
        join(path, folder, (uint32_t)strlen(folder), name.bytes, name.length);
    if (path->length)
        judge_itself(path);
}

void dft_path_beside(struct dft_path *path, const struct dft_path *link, struct dft_text name)
{
    uint32_t length = link->length;

    make_empty(path);
    while (length && link->text[length - 1] != '/')
        length--;
    if (length && name.length)
        join(path, link->text, length - 1, name.bytes, name.length);
    if (path->length)
        judge_itself(path);
}

static void make_below_fd(struct dft_thread *self, struct dft_path *path, int dirfd, const char *name, size_t length)
{
    const struct dft_dir *dir = dft_directory_find(self, dirfd);
    struct dft_path base;

    if (dir) {
        join(path, dir->text, dir->length, name, length);
        return;
    }
    dft_path_of_fd(&base, dirfd);
    if (base.id) {
        dft_directory_keep(self, dirfd, base.text, base.length);
        join(path, base.text, base.length, name, length);
    }
    dft_path_done(&base);
}

/* Before the thread has a state: the working directory is queried. */
static void make_below_cwd(struct dft_path *path, const char *name, size_t length)
{
    char *base = dft_sys_map(LONGEST);
    uint32_t base_length = base ? dft_directory_ask(base, LONGEST) : 0;

    if (base_length)
        join(path, base, base_length, name, length);
    if (base)
        DFT_SYS(munmap, base, LONGEST, 0, 0, 0, 0);
}

void dft_path_make(struct dft_thread *self, struct dft_path *path, int dirfd, struct dft_text name)
{
    uint32_t base_length;
    const char *base;

    make_empty(path);
    if (!name.length) {
        if (dirfd != AT_FDCWD)
            dft_path_of_fd(path, dirfd);
        return;
    }
    if (name.bytes[0] == '/') {
        join(path, "", 0, name.bytes + 1, name.length - 1);
    } else if (dirfd != AT_FDCWD) {
        make_below_fd(self, path, dirfd, name.bytes, name.length);
    } else if (self) {
        base = dft_directory_of_work(self, &base_length);
        if (base_length)
            join(path, base, base_length, name.bytes, name.length);
    } else {
        make_below_cwd(path, name.bytes, name.length);
    }
    if (path->length)
        judge(path, dirfd, name);
}

/* A handler that defines another name here in the middle of this leaves that name's class: it is written
 * behind the name, too. */
enum dft_io dft_path_define(struct dft_thread *self, struct dft_path *path)
{
    const struct dft_text text = {path->text, path->length};
    uint8_t *known = &self->sent_io[path->id & (DFT_SENT_NAMES - 1)], io;

    if (!path->id)
        return DFT_IO_NONE;
    if (__builtin_expect(dft_name_was_sent(self, path->id), 1))
        return (enum dft_io) * known;
    if (dft_rules_on)
        dft_rules_define_file(path->id, path->text, path->length);
    dft_mounts_meet(path->text, path->length);
    io = (uint8_t)dft_file_class(path->text, path->length);
    if (self->mode == DFT_MODE_ROWS) {
        path->id = dft_rows_define(self, path->id, text, io);
        return (enum dft_io)io;
    }
    *(volatile uint8_t *)known = io;
    dft_name_send(self, path->id, text);
    *(volatile uint8_t *)known = io;
    return (enum dft_io)io;
}

void dft_path_keep(const struct dft_path *path)
{
    const struct dft_name name = {.id = path->id, .text = {path->text, path->length}};
    struct dft_signals before;

    if (!path->id || dft_is_sandboxed() || !dft_process_start_waits())
        return;
    before = dft_signals_block();
    dft_pending_names_keep(&name, 1);
    dft_signals_restore(before);
}
