/* SPDX-License-Identifier: MIT */
// Annotations from C++: regions that end with their scope, however it is left.
#include <dftrace/dftrace.h>

#include <cstdio>
#include <fcntl.h>
#include <stdexcept>
#include <unistd.h>

static int fd;

static void write_byte()
{
    if (write(fd, "x", 1) != 1)
        std::perror("write");
}

static int thrown(int depth)
{
    DFTRACE_REGION("thrown");
    write_byte();
    if (depth == 0)
        throw std::runtime_error("out of three regions");
    return thrown(depth - 1) + 1;
}

template <typename T> static T in_template(T value)
{
    DFTRACE_REGION_CAT("TEMPLATE", sizeof(T) == 1 ? "char" : "int");
    write_byte();
    return value;
}

struct worker {
    int work() const
    {
        DFTRACE_REGION("method");
        DFTRACE_ARG_STRING("class", "worker");
        auto inner = [] {
            DFTRACE_REGION("lambda");
            write_byte();
        };
        inner();
        return 1;
    }
};

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    fd = open(argv[1], O_RDWR | O_CREAT, 0644);
    try {
        thrown(2);
    } catch (const std::runtime_error &) {
        write_byte(); // in no region
    }
    in_template('c');
    in_template(1);
    for (int i = 0; i < 3; i++)
        worker().work();
    DFTRACE_BEGIN("by hand");
    DFTRACE_COUNTER_DOUBLE("ratio", 1.5);
    DFTRACE_END("by hand");
    std::printf("enabled %d\n", dftrace_enabled());
    return 0;
}
