// SPDX-License-Identifier: MIT
// What the library of streams.cpp has.
#ifndef STREAMS_H
#define STREAMS_H

#include <string>

bool streams_in_library(const std::string &path);

#endif
