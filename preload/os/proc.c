/* SPDX-License-Identifier: MIT */
/* Owns the choice between /proc/self and /proc/thread-self. */
#include "os/proc.h"

#include <string.h>

#include "os/line.h"
#include "os/self.h"
#include "os/sys.h"

/* The first look of a process into either of them is expensive, so one thread looks at the usual one. */
void dft_proc_name(char name[DFT_PROC_ROOM], const char *file, int turn)
{
    const char *folder = dft_is_single() == !turn ? "/proc/self/" : "/proc/thread-self/";
    size_t used = strlen(folder), length = strnlen(file, DFT_PROC_ROOM - used - 1);

    memcpy(name, folder, used);
    memcpy(name + used, file, length);
    name[used + length] = 0;
}

static void fd_file(char file[16], unsigned fd)
{
    char digits[DFT_DIGITS_ROOM];

    memcpy(file, "fd/", 3);
    strcpy(file + 3, dft_digits(digits, fd, 10));
}

void dft_proc_fd_name(char name[DFT_PROC_ROOM], unsigned fd, int turn)
{
    char file[16];

    fd_file(file, fd);
    dft_proc_name(name, file, turn);
}

long dft_proc_link(const char *file, char *text, size_t capacity)
{
    char name[DFT_PROC_ROOM];
    long n = -ENOENT;

    for (int turn = 0; turn < DFT_PROC_TURNS && n == -ENOENT; turn++) {
        dft_proc_name(name, file, turn);
        n = dft_sys_readlink(name, text, capacity);
    }
    return n;
}

long dft_proc_fd_link(unsigned fd, char *text, size_t capacity)
{
    char file[16];

    fd_file(file, fd);
    return dft_proc_link(file, text, capacity);
}
