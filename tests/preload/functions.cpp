/* SPDX-License-Identifier: MIT */
// Instrumented functions of C++: names with types, exceptions through them, constructors and lambdas.
#include <cstdio>
#include <stdexcept>
#include <string>

#define KEPT __attribute__((noinline))

namespace shop
{
struct item {
    KEPT explicit item(int price) : price_(price) {}
    KEPT int price() const
    {
        return price_;
    }
    int price_;
};

template <typename T> KEPT T twice(T value)
{
    return value + value;
}

KEPT int thrower(int n)
{
    if (!n)
        throw std::runtime_error("out");
    return thrower(n - 1) + 1;
}

KEPT int catcher(int n)
{
    try {
        return thrower(n);
    } catch (const std::exception &) {
        return item(n).price();
    }
}
} // namespace shop

KEPT int behind(int n)
{
    return n;
}

int main()
{
    int sum = 0;

    for (int i = 0; i < 5; i++)
        sum += shop::catcher(3);
    sum += behind(1);
    sum += shop::twice(1) + static_cast<int>(shop::twice(1.5));
    std::printf("%d\n", sum);
    return 0;
}
