/* SPDX-License-Identifier: MIT */
// The forms of C++: spans that move, arguments of any type; under every standard from C++11 on.
#include <dftrace/dftrace.h>

#include <cstdio>
#include <thread>
#include <utility>
#include <vector>

int main()
{
    std::vector<dftrace::span> many;
    dftrace::span outer("outer", "TASKS");
    std::thread worker;

    for (int i = 0; i < 10; i++)
        many.emplace_back("one of ten", nullptr, &outer);
    dftrace::span moved(std::move(many.back()));
    many.pop_back();
    worker = std::thread([&many] { many.clear(); });
    worker.join();
    moved = dftrace::span();
    moved.end();
    {
        DFTRACE_REGION("arguments");
        dftrace::arg("int", 7);
        dftrace::arg("size", sizeof(int));
        dftrace::arg("long", -(1LL << 40));
        dftrace::arg("double", 0.25);
        dftrace::arg("text", "a text");
        dftrace::arg("bool", true);
    }
    outer.end();
    std::printf("enabled %d\n", dftrace_enabled());
    return 0;
}
