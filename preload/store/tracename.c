/* SPDX-License-Identifier: MIT */
/* Owns the names of this process's files:
 * "<prefix>-<program>-<host>-<pid>-<load time ns>-<key>". */
#include "store/tracename.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/utsname.h>

#include "os/bulk.h"
#include "os/clock.h"
#include "settings/config.h"
#include "settings/config_place.h"
#include "os/proc.h"
#include "os/secure.h"
#include "os/self.h"
#include "store/identity.h"
#include "os/sys.h"
#include "tables/fd_progress.h"

char dft_tracename_base[DFT_TRACENAME_ROOM] DFT_BULK;
size_t dft_tracename_directory;

#define ALL_MODES 07777u
#define OPENS_MAX 4

static const char *prefix = "";
static char program[64], host[65];

static size_t put_text(char *to, size_t capacity, size_t used, const char *text)
{
    while (*text && used + 1 < capacity)
        to[used++] = *text++;
    to[used] = 0;
    return used;
}

static size_t put_number(char *to, size_t capacity, size_t used, uint64_t number, unsigned base)
{
    char digits[24];
    int at = sizeof digits - 1;

    digits[at] = 0;
    do
        digits[--at] = "0123456789abcdef"[number % base];
    while (number /= base);
    return put_text(to, capacity, used, digits + at);
}

/* Replaces letters that make trouble in file names by underscores. */
static void make_plain(char *text)
{
    for (; *text; text++)
        if (*text == '/' || (unsigned char)*text <= ' ' || *text == 0x7f)
            *text = '_';
}

static void call_program(const char *path)
{
    const char *slash = strrchr(path, '/');

    put_text(program, sizeof program, 0, slash ? slash + 1 : path);
    make_plain(program);
}

/* Takes the name from the kernel's word for the executed file. A symbolic link keeps its own name,
 * and a script keeps the script's. The name is read at the start, because a program may write over
 * it later. A program that was run by a descriptor has no name there. */
static void know_program(void)
{
    const char *path = (const char *)getauxval(AT_EXECFN);

    if (path && strncmp(path, "/dev/fd/", 8) && strncmp(path, "/proc/", 6))
        call_program(path);
}

static void find_program(void)
{
    if (!*program)
        call_program(dft_process_exe());
    if (!*program)
        call_program("program");
}

void dft_tracename_init(void)
{
    if (!*program)
        know_program();
    prefix = dft_config_absolute(dft_config.log_file);
}

static void find_host(void)
{
    struct utsname names;

    if (*host || DFT_SYS(uname, &names, 0, 0, 0, 0, 0) < 0)
        return;
    put_text(host, sizeof host, 0, names.nodename);
    make_plain(host);
}

void dft_tracename_make(void)
{
    size_t used = put_text(dft_tracename_base, DFT_TRACENAME_ROOM, 0, prefix);
    char *slash;

    if (used && dft_tracename_base[used - 1] != '/')
        used = put_text(dft_tracename_base, DFT_TRACENAME_ROOM, used, "-");
    find_program();
    find_host();
    used = put_text(dft_tracename_base, DFT_TRACENAME_ROOM, used, program);
    used = put_text(dft_tracename_base, DFT_TRACENAME_ROOM, used, "-");
    used = put_text(dft_tracename_base, DFT_TRACENAME_ROOM, used, host);
    used = put_text(dft_tracename_base, DFT_TRACENAME_ROOM, used, "-");
    used = put_number(dft_tracename_base, DFT_TRACENAME_ROOM, used, dft_pid, 10);
    used = put_text(dft_tracename_base, DFT_TRACENAME_ROOM, used, "-");
    used = put_number(dft_tracename_base, DFT_TRACENAME_ROOM, used, dft_clock_start_ns, 10);
    used = put_text(dft_tracename_base, DFT_TRACENAME_ROOM, used, "-");
    put_number(dft_tracename_base, DFT_TRACENAME_ROOM, used, dft_key, 16);
    slash = strrchr(dft_tracename_base, '/');
    dft_tracename_directory = slash ? (size_t)(slash - dft_tracename_base) + 1 : 0;
}

int dft_tracename_is_of_process(const char *name, uint64_t *load_ns)
{
    const char *slash = strrchr(prefix, '/'), *begin = slash ? slash + 1 : prefix, *at;
    char middle[96];
    size_t used;

    find_host();
    used = put_text(middle, sizeof middle, 0, "-");
    used = put_text(middle, sizeof middle, used, host);
    used = put_text(middle, sizeof middle, used, "-");
    used = put_number(middle, sizeof middle, used, dft_pid, 10);
    used = put_text(middle, sizeof middle, used, "-");
    if (strncmp(name, begin, strlen(begin)) != 0 || !(at = strstr(name, middle)))
        return 0;
    *load_ns = 0;
    for (at += used; *at >= '0' && *at <= '9'; at++)
        *load_ns = *load_ns * 10 + (uint64_t)(*at - '0');
    return 1;
}

/* --- files ------------------------------------------------------------------------------------ */

static uid_t user(void)
{
    return (uid_t)DFT_SYS(geteuid, 0, 0, 0, 0, 0, 0);
}

/* The user may have another number by now, within a namespace of users. */
static int is_owner(const struct dft_ourfile *ours, const struct stat *st)
{
    return st->st_uid == ours->owner || st->st_uid == user();
}

static int look(const char *name, struct stat *st)
{
    return (int)DFT_SYS(newfstatat, AT_FDCWD, name, st, AT_SYMLINK_NOFOLLOW, 0, 0);
}

/* Does the name lead to our file? Where nobody holds our file, another one may have its number: so the
 * owner counts, too. Returns 0 or -errno. */
static int find(const char *name, const struct dft_ourfile *ours)
{
    struct stat st;
    int result = look(name, &st);

    return result ? result : S_ISREG(st.st_mode) && dft_ourfile_is(ours, &st) && is_owner(ours, &st) ? 0 : -ESTALE;
}

/* Is it the file that we have just made, as far as one can tell? Somebody may have removed or renamed it. */
static int is_new(const struct stat *st)
{
    return S_ISREG(st->st_mode) && st->st_uid == user() && st->st_nlink <= 1 && !st->st_size;
}

/* Closes a descriptor that shows what the name leads to, or a file that we have just made, and that is not our
 * file. A process that shares our descriptors may have put its own file on the number, and that one stays
 * open. */
static long refuse(long fd, const char *name)
{
    struct stat there, shown;
    int is_there =
        !look(name, &there) && dft_ourfile_has(&(struct dft_ourfile){there.st_dev, there.st_ino, 0}, (int)fd);

    if (is_there || (!DFT_SYS(fstat, fd, &shown, 0, 0, 0, 0) && is_new(&shown)))
        dft_sys_close((int)fd);
    return -ESTALE;
}

/* Looks before it opens: to open a device or a pipe may have effects. */
long dft_tracename_open(const char *name, int flags, const struct dft_ourfile *ours)
{
    long fd = find(name, ours);

    if (!fd)
        fd = dft_fd_progress_open(name, flags, 0);
    return fd < 0 || dft_ourfile_has(ours, (int)fd) ? fd : refuse(fd, name);
}

/* The name and the descriptor must show one file. A process that shares our descriptors may have put its own
 * file on the number meanwhile: then the file that has the name is opened again. */
static long identify(long fd, const char *name, int flags, struct stat *st)
{
    for (int times = 0; times < OPENS_MAX && fd >= 0; times++) {
        const int result = look(name, st);
        const struct dft_ourfile made = dft_ourfile_of(st);

        if (!result && S_ISREG(st->st_mode) && dft_ourfile_has(&made, (int)fd))
            return fd;
        if (result || !is_new(st))
            return refuse(fd, name);
        fd = dft_tracename_open(name, flags, &made);
    }
    return fd < 0 ? fd : refuse(fd, name);
}

long dft_tracename_create(const char *name, int flags, mode_t mode, struct dft_ourfile *ours)
{
    long fd = dft_fd_progress_open(name, flags | O_CREAT | O_EXCL, (int)(mode ? mode : 0666));
    struct stat st = {0};
    mode_t wanted;

    fd = identify(fd, name, flags, &st);
    if (fd < 0)
        return fd;
    *ours = dft_ourfile_of(&st);
    wanted = mode ? mode : (st.st_mode & ALL_MODES) | 0600;
    if ((st.st_mode & ALL_MODES) != wanted)
        DFT_SYS(fchmod, fd, wanted, 0, 0, 0, 0);
    return fd;
}

void dft_tracename_remove(const char *name, const struct dft_ourfile *ours)
{
    if (!find(name, ours))
        DFT_SYS(unlinkat, AT_FDCWD, name, 0, 0, 0, 0);
}

int dft_tracename_rename(const char *from, const char *to, const struct dft_ourfile *ours)
{
    int result = find(from, ours), there = find(to, ours);

    if (result || !there) /* both may be names of our file */
        return result;
    return there == -ESTALE ? -EEXIST : (int)DFT_SYS(renameat, AT_FDCWD, from, AT_FDCWD, to, 0, 0);
}

/* --- directories ------------------------------------------------------------------------------ */

/* The umask has left the owner no right to open the directory. Such a descriptor needs none. */
static void give_rights(const char *directory)
{
    char shown[DFT_PROC_ROOM];
    long fd = dft_fd_progress_open(directory, O_PATH | O_DIRECTORY, 0), result = -ENOENT;
    struct stat st;

    if (fd < 0)
        return;
    if (!DFT_SYS(fstat, fd, &st, 0, 0, 0, 0) && S_ISDIR(st.st_mode) && st.st_uid == user())
        for (int turn = 0; turn < DFT_PROC_TURNS && result == -ENOENT; turn++) {
            dft_proc_fd_name(shown, (unsigned)fd, turn);
            result = DFT_SYS(fchmodat, AT_FDCWD, shown, (st.st_mode & ALL_MODES) | 0700, 0, 0, 0);
        }
    dft_sys_close((int)fd);
}

/* Who runs a program with the rights of another one has also set its umask. */
static int make_directory(const char *path, mode_t mode)
{
    struct stat st;
    int result = (int)DFT_SYS(mkdirat, AT_FDCWD, path, dft_is_secure() ? mode & 0700 : mode, 0, 0, 0);

    if (!result && !look(path, &st) && (st.st_mode & 0700) != 0700)
        give_rights(path);
    return result;
}

int dft_tracename_make_directories(char *file, mode_t mode)
{
    int result, failed = 0;

    for (char *slash = strchr(file + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        result = make_directory(file, mode);
        if (result && !failed && result != -EEXIST)
            failed = result;
        *slash = '/';
    }
    return failed;
}
