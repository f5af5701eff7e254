/* SPDX-License-Identifier: MIT */
// The program of unwind_test.py in C++: exceptions, lambdas, thunks, destructors, templates of the library.
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static volatile long sink;

struct Left {
    virtual ~Left() { sink = 1; }
    virtual long left(long n) { return n; }
};

struct Right {
    virtual ~Right() { sink = 2; }
    virtual long right(long n) { return n; }
};

// Called through Right, its functions are reached by thunks.
struct Both : Left, Right {
    std::string text = "both";
    ~Both() override { sink = long(text.size()); }
    long left(long n) override { return n + long(text.size()); }
    long right(long n) override { return n ? right(n - 1) + left(n) : n; }
};

struct Guard {
    long n;
    ~Guard() { sink = n; }
};

__attribute__((noinline)) static long thrower(long n)
{
    Guard guard{n};
    if (!n)
        throw std::runtime_error("thrown");
    return thrower(n - 1) + guard.n;
}

__attribute__((noinline)) static long rethrower(long n)
{
    try {
        return thrower(n);
    } catch (const std::logic_error &) {
        return 1;
    } catch (...) {
        Guard guard{n};
        throw;
    }
}

static long exceptions()
{
    try {
        return rethrower(4);
    } catch (const std::exception &error) {
        return long(std::string(error.what()).size());
    }
}

static long closures(long n)
{
    std::function<long(long)> f = [&](long a) { return a ? f(a - 1) + n : a; };
    std::vector<long> list(30);

    std::generate(list.begin(), list.end(), [i = 0L]() mutable { return ++i * 37 % 31; });
    std::sort(list.begin(), list.end(), [](long a, long b) { return a > b; });
    return f(3) + list[0];
}

static long containers()
{
    std::map<std::string, long> map;
    std::ostringstream out;

    for (long i = 0; i < 12; i++)
        map[std::to_string(i * 7)] = i;
    for (const auto &[name, value] : map)
        out << name << '=' << value << ' ' << double(value) / 3;
    return long(out.str().size());
}

static Both before_main;

int main()
{
    std::unique_ptr<Right> right = std::make_unique<Both>();
    std::thread thread([] { sink = exceptions(); });

    thread.join();
    sink = right->right(3) + before_main.left(2) + exceptions() + closures(5) + containers();
    return 0;
}
