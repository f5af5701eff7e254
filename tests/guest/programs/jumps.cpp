/* SPDX-License-Identifier: MIT */
/* Calls that are left by a jump or an exception from a function they called: what is held across a
 * callback stays held for ever. */
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <pthread.h>
#include <search.h>
#include <stdexcept>
#include <string>
#include <unistd.h>

#include "cases.h"

enum { TIMES = 300 };
static jmp_buf back;
static int by_throwing;

static void leave()
{
    int fd = open("seen", O_WRONLY | O_CREAT | O_APPEND, 0644);

    if (write(fd, "x", 1) != 1)
        abort();
    close(fd);
    if (by_throwing)
        throw std::runtime_error("left");
    longjmp(back, 1);
}

static int comparing(const void *, const void *)
{
    leave();
    return 0;
}
static int selecting(const struct dirent *)
{
    leave();
    return 1;
}
static int ordering(const struct dirent **, const struct dirent **)
{
    leave();
    return 0;
}
static int walking(const char *, const struct stat *, int, struct FTW *)
{
    leave();
    return 0;
}
static int not_opened(const char *, int)
{
    leave();
    return 0;
}
static ssize_t reading(void *, char *, size_t)
{
    leave();
    return 0;
}
static ssize_t writing(void *, const char *, size_t)
{
    leave();
    return 0;
}

static void sort_it()
{
    int a[] = {3, 1, 2};
    qsort(a, 3, sizeof *a, comparing);
}
static void scan_it()
{
    struct dirent **list;
    if (scandir(".", &list, selecting, alphasort) < 0)
        abort();
}
static void scan_and_sort_it()
{
    struct dirent **list;
    if (scandir("tree", &list, nullptr, ordering) < 0)
        abort();
}
static void walk_it()
{
    nftw("tree", walking, 8, FTW_PHYS);
}
static void glob_it()
{
    glob_t found;
    glob("nosuch/*", GLOB_ERR, not_opened, &found);
    leave();
}
static void read_it()
{
    FILE *stream = fopencookie(nullptr, "r", {.read = reading, .write = nullptr, .seek = nullptr, .close = nullptr});
    setvbuf(stream, nullptr, _IONBF, 0);
    fgetc(stream);
}
static void write_it()
{
    FILE *stream = fopencookie(nullptr, "w", {.read = nullptr, .write = writing, .seek = nullptr, .close = nullptr});
    setvbuf(stream, nullptr, _IONBF, 0);
    fputc('x', stream);
}

static void (*const calls[])() = {sort_it, scan_it, scan_and_sort_it, walk_it, glob_it, read_it, write_it};

static void prepare()
{
    for (int i = 0; i < 20; i++) {
        std::string name = "tree/" + std::to_string(i);
        mkdir("tree", 0755);
        close(open(name.c_str(), O_CREAT | O_WRONLY, 0644));
    }
}

static void jumps()
{
    volatile int left = 0;

    prepare();
    for (volatile unsigned which = 0; which < sizeof calls / sizeof *calls; which++)
        for (volatile int i = 0; i < TIMES; i++)
            if (setjmp(back) == 0)
                calls[which]();
            else
                left++;
    say("left by a jump", left);
    _exit(0); /* the streams are not closed, and writing to them at the end would jump again */
}

/* The C library's own functions can be left by exceptions where they are compiled for it. */
static void exceptions()
{
    int left = 0;

    prepare();
    by_throwing = 1;
    for (auto call : {sort_it, scan_it, walk_it})
        for (int i = 0; i < TIMES; i++)
            try {
                call();
            } catch (std::runtime_error &) {
                left++;
            }
    say("left by an exception", left);
}

struct guard {
    ~guard()
    {
        int fd = open("unwound", O_WRONLY | O_CREAT | O_APPEND, 0644);
        if (write(fd, "u", 1) != 1)
            abort();
        close(fd);
    }
};

static void *wait_in_a_read(void *argument)
{
    guard here;
    char byte;

    pthread_cleanup_push([](void *) { close(open("cleaned", O_WRONLY | O_CREAT, 0644)); }, nullptr);
    if (read(*(int *)argument, &byte, 1) == 1)
        abort();
    pthread_cleanup_pop(0);
    return nullptr;
}

/* Cancellation unwinds the frames of C++ above the call. */
static void cancelled()
{
    int ends[2], count = 0;

    if (pipe(ends))
        abort();
    for (int i = 0; i < 200; i++) {
        pthread_t thread;
        void *result = nullptr;

        pthread_create(&thread, nullptr, wait_in_a_read, ends);
        if (i % 3)
            usleep(i % 7 * 50);
        pthread_cancel(thread);
        pthread_join(thread, &result);
        count += result == PTHREAD_CANCELED;
    }
    say("cancelled", count);
    unlink("unwound"); /* a thread cancelled before its first line has no guard */
    unlink("cleaned");
}

int main(int argc, char **argv)
{
    static const struct guest_case cases[] = {
        {"jumps", jumps}, {"exceptions", exceptions}, {"cancelled", cancelled}, {nullptr, nullptr}};

    return run_case(cases, argc, argv);
}
