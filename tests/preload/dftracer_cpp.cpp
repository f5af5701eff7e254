/* SPDX-License-Identifier: MIT */
// A program written for DFTracer's C++ interface, as its documentation has it.
#include <dftracer/dftracer.h>
#include <cstdio>
#include <cstring>
#include <stdexcept>

static int compute(int n)
{
    DFTRACER_CPP_FUNCTION();
    DFTRACER_CPP_FUNCTION_UPDATE("int_key", 42);
    DFTRACER_CPP_FUNCTION_UPDATE("string_key", "test_value");
    DFTRACER_CPP_FUNCTION_UPDATE("double_key", 3.25);
    char text[8] = "mutable";
    DFTRACER_CPP_FUNCTION_UPDATE("array", text);
    DFTRACER_CPP_FUNCTION_UPDATE("float", 0.5f);
    if (n == 0)
        throw std::runtime_error("out of it");
    return n;
}

template <typename T> static T generic(T value)
{
    DFTRACER_CPP_FUNCTION();
    return value;
}

int main(int argc, char **argv)
{
    DFTRACER_CPP_INIT(argc > 1 ? argv[1] : nullptr, nullptr, nullptr);
    DFTRACER_CPP_METADATA(global_meta, "app_name", "api");
    compute(1);
    try {
        compute(0);
    } catch (const std::exception &) {
    }
    {
        DFTRACER_CPP_REGION(STATIC);
        DFTRACER_CPP_REGION_UPDATE(STATIC, "region_key", "region_value");
    }
    DFTRACER_CPP_REGION_START(DYNAMIC);
    DFTRACER_CPP_REGION_DYN_UPDATE(DYNAMIC, "dyn_key", 200);
    {
        DFTRACER_CPP_REGION(INNER);
        DFTRACER_CPP_REGION_DYN_UPDATE(DYNAMIC, "big", 1LL << 40);
        DFTRACER_CPP_REGION_UPDATE(INNER, "inner", 1);
    }
    DFTRACER_CPP_REGION_DYN_UPDATE(DYNAMIC, "dyn_str", "dynamic");
    DFTRACER_CPP_REGION_END(DYNAMIC);
    generic(1);
    generic(1.0);
    DFTRACER_CPP_FINI();
    std::puts("done");
    return 0;
}
