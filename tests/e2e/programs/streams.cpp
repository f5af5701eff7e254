// SPDX-License-Identifier: MIT
// I/O of C++ streams from all kinds of functions, each with a file of its own. The word behind "line" is the file that
// is read or written there.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "streams.h"

namespace
{

struct Journal {
    std::ofstream out;

    explicit Journal(const std::string &path) : out(path) {}
    void note(int number)
    {
        out << number << std::endl; // line endl
    }
};

template <typename Number> void write_numbers(std::ofstream &out)
{
    for (Number i = 0; i < 20000; i++)
        out << i << ' '; // line template
}

inline void write_block(std::ofstream &out, const std::vector<char> &block)
{
    out.write(block.data(), static_cast<std::streamsize>(block.size())); // line inlined
}

inline void write_twice(std::ofstream &out, const std::vector<char> &block)
{
    write_block(out, block);
    write_block(out, block);
}

std::size_t count_lines(const std::string &path)
{
    std::ifstream in(path);
    std::string line;
    std::size_t count = 0;

    while (std::getline(in, line)) // line lines
        count++;
    return count;
}

} // namespace

int main(int argc, char **argv)
{
    const std::filesystem::path folder = argv[argc - 1];
    const std::vector<char> block(100000, 'x');
    std::vector<int> three = {1, 2, 3};

    {
        Journal journal(folder / "endl");
        std::ofstream numbers(folder / "template"), inlined(folder / "inlined"), lines(folder / "lines"),
            lambda(folder / "lambda");
        for (int i = 0; i < 10; i++)
            journal.note(i);
        write_numbers<long>(numbers);
        write_twice(inlined, block);
        for (int i = 0; i < 10000; i++)
            lines << "line " << i << '\n';
        std::for_each(three.begin(), three.end(), [&](int n) {
            lambda << n << std::flush; // line lambda
        });
    }
    std::cout << count_lines(folder / "lines") << '\n';
    std::filesystem::create_directory(folder / "made"); // line made
    std::filesystem::remove(folder / "made");
    std::ifstream absent(folder / "absent"); // line absent
    std::cout << absent.is_open() << streams_in_library((folder / "library").string()) << '\n';
    return 0;
}
