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
#include "os/config.h"
#include "os/self.h"
#include "store/process.h"
#include "os/sys.h"

char dft_tracename_base[DFT_TRACENAME_ROOM] DFT_BULK;
size_t dft_tracename_directory;

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

static const char *from_here(const char *path)
{
    static char absolute[4096] DFT_BULK;
    long n = DFT_SYS(getcwd, absolute, sizeof absolute - 1, 0, 0, 0, 0);
    size_t used = n > 0 && absolute[0] == '/' ? strlen(absolute) : 0;

    used = put_text(absolute, sizeof absolute, used, "/");
    put_text(absolute, sizeof absolute, used, path);
    return absolute;
}

void dft_tracename_init(void)
{
    if (!*program)
        know_program();
    prefix = dft_config.log_file[0] == '/' ? dft_config.log_file : from_here(dft_config.log_file);
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

long dft_tracename_look(const char *made, struct stat *st)
{
    long result = DFT_SYS(newfstatat, AT_FDCWD, made, st, AT_SYMLINK_NOFOLLOW, 0, 0);
    mode_t least;

    if (result < 0)
        return result;
    least = S_ISDIR(st->st_mode) ? 0700 : 0600;
    if ((st->st_mode & least) != least)
        DFT_SYS(fchmodat, AT_FDCWD, made, (st->st_mode & 07777) | least, 0, 0, 0);
    return 0;
}

int dft_tracename_make_directories(char *file)
{
    long result, failed = 0;

    for (char *slash = strchr(file + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        result = DFT_SYS(mkdirat, AT_FDCWD, file, 0777, 0, 0, 0);
        if (!result)
            dft_tracename_look(file, &(struct stat){0});
        else if (!failed && result != -EEXIST)
            failed = result;
        *slash = '/';
    }
    return (int)failed;
}
