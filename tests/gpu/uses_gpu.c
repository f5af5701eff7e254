/* SPDX-License-Identifier: MIT */
/* A program that uses a GPU which is not there: it does what CUDA's driver does when it starts, and tells the stand-in for libcupti
 * what the GPU did. What it prints is the same with and without a trace.
 *
 *   uses_gpu work|exit|fork|many N|lose|quiet */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "stub_cupti.h"

static struct {
    __typeof__(&stub_now) now;
    __typeof__(&stub_kernel) kernel;
    __typeof__(&stub_copy) copy;
    __typeof__(&stub_peer_copy) peer_copy;
    __typeof__(&stub_fill) fill;
    __typeof__(&stub_wait) wait;
    __typeof__(&stub_poll) poll;
    __typeof__(&stub_unknown) unknown;
    __typeof__(&stub_lose) lose;
} stub;

/* cuInit. */
static void start_driver(void)
{
    const char *path = getenv("CUDA_INJECTION64_PATH");
    void *library = path ? dlopen(path, RTLD_NOW) : NULL;
    int (*start)(void) = library ? (int (*)(void))dlsym(library, "InitializeInjection") : NULL;

    if (path && (!start || !start() || !start()))
        exit(9);
}

static int find_stub(void)
{
    void *library = dlopen("libcupti.so.13", RTLD_NOW);

    if (!library)
        return 0;
    stub.now = (__typeof__(stub.now))dlsym(library, "stub_now");
    stub.kernel = (__typeof__(stub.kernel))dlsym(library, "stub_kernel");
    stub.copy = (__typeof__(stub.copy))dlsym(library, "stub_copy");
    stub.peer_copy = (__typeof__(stub.peer_copy))dlsym(library, "stub_peer_copy");
    stub.fill = (__typeof__(stub.fill))dlsym(library, "stub_fill");
    stub.wait = (__typeof__(stub.wait))dlsym(library, "stub_wait");
    stub.poll = (__typeof__(stub.poll))dlsym(library, "stub_poll");
    stub.unknown = (__typeof__(stub.unknown))dlsym(library, "stub_unknown");
    stub.lose = (__typeof__(stub.lose))dlsym(library, "stub_lose");
    return stub.now != NULL;
}

static void rest(void)
{
    const struct timespec some = {0, 20000000};

    nanosleep(&some, NULL);
}

static void write_file(const char *name)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    if (fd < 0 || write(fd, name, 4) != 4)
        exit(8);
    close(fd);
}

/* Kernels between two writes, and around one. */
static void work(void)
{
    uint64_t start, end, around;

    write_file("before");
    rest();
    around = stub.now();
    rest();
    start = stub.now();
    rest();
    end = stub.now();
    stub.kernel("_Z4stepiPf", start, end, 5);
    stub.kernel(NULL, start, start, 5);
    stub.copy(1, 1000, start, end, 5);
    stub.copy(2, 2000, start, end, 6);
    stub.copy(8, 3000, start, end, 6);
    stub.copy(99, 4, start, end, 6);
    stub.peer_copy(5000, start, end);
    stub.fill(6000, start, end);
    stub.wait(3, start, end, 5);
    stub.wait(4, start, end, UINT32_MAX);
    stub.poll(start, end);
    stub.kernel("no times", 0, 0, 5);
    stub.unknown();
    rest();
    write_file("after");
    stub.kernel("around", around, stub.now(), 7);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "work";

    start_driver();
    if (!find_stub()) {
        puts("no GPU");
        return 0;
    }
    if (!strcmp(what, "many"))
        for (int i = 0; i < atoi(argv[2]); i++)
            stub.kernel("many", stub.now(), stub.now(), 1);
    else if (strcmp(what, "quiet") != 0)
        work();
    if (!strcmp(what, "lose"))
        stub.lose();
    if (!strcmp(what, "fork")) {
        int status = -1;
        pid_t child = fork();

        if (!child) {
            stub.kernel("in the child", stub.now(), stub.now(), 1);
            write_file("child");
            exit(4);
        }
        waitpid(child, &status, 0);
        printf("%d\n", WEXITSTATUS(status));
    }
    printf("%s is done\n", what);
    if (!strcmp(what, "exit"))
        exit(7);
    return 0;
}
