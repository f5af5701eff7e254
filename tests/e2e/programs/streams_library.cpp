// SPDX-License-Identifier: MIT
// The library of streams.cpp: a program's own.
#include "streams.h"

#include <fstream>

bool streams_in_library(const std::string &path)
{
    std::ofstream out(path);

    out << "of a library" << std::endl; // line library
    return out.good();
}
