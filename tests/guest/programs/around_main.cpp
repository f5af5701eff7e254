/* SPDX-License-Identifier: MIT */
/* C++ that does I/O before main and after it: static objects, thread-local ones, handlers of all
 * kinds of exit. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <iostream>
#include <string>
#include <thread>
#include <unistd.h>

static void add(const char *file, const std::string &text)
{
    int fd = open(file, O_WRONLY | O_CREAT | O_APPEND, 0644);

    if (fd < 0 || write(fd, text.data(), text.size()) != (ssize_t)text.size())
        abort();
    close(fd);
}

struct early {
    std::ofstream stream;
    FILE *file;
    early() : stream("stream"), file(fopen("file", "w"))
    {
        stream << "before main" << std::endl;
        fputs("before main\n", file);
        add("log", "before main\n");
    }
    ~early()
    {
        stream << "after main" << std::endl;
        fputs("after main\n", file); /* never closed: written when all streams are */
        add("log", "after main\n");
    }
};

struct of_thread {
    ~of_thread()
    {
        add("log", "end of a thread\n");
    }
};

static early first __attribute__((init_priority(101)));
static early &also_first = first;
static thread_local of_thread mine;

__attribute__((constructor(101))) static void constructed()
{
    add("log", "constructor\n");
}
__attribute__((destructor(101))) static void destructed()
{
    add("log", "destructor\n");
}
__attribute__((section(".preinit_array"), used)) static void (*before_all)() = [] { add("log", "preinit\n"); };

int main(int argc, char **argv)
{
    std::string how = argc > 1 ? argv[1] : "return";

    atexit([] { add("log", "atexit\n"); });
    at_quick_exit([] { add("log", "at_quick_exit\n"); });
    on_exit([](int status, void *) { add("log", "on_exit " + std::to_string(status) + "\n"); }, nullptr);
    also_first.stream << "main" << std::endl;
    (void)&mine;
    std::thread([] { add("log", "thread\n"), (void)&mine; }).join();
    std::cout << "in main" << std::endl;
    printf("not flushed");
    if (how == "exit")
        exit(3);
    if (how == "quick")
        quick_exit(4);
    if (how == "_exit")
        _exit(5);
    if (how == "thread") /* ends the process from another thread, with this one in a call */
        std::thread([] { exit(6); }).detach(), pause();
    if (how == "last")
        pthread_exit(nullptr); /* the last thread ends, and with it the process */
    if (how == "throw")
        throw 1;
    return 7;
}
