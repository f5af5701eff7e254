/* SPDX-License-Identifier: MIT */
/* Runs libaio.c, built as a library that is linked with libaio, loaded when the program runs
 * already. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *library = dlopen(argv[1], RTLD_NOW);
    int (*run)(int, char **) = library ? (int (*)(int, char **))dlsym(library, "libaio_main") : NULL;

    if (!run)
        fprintf(stderr, "%s\n", dlerror());
    return run ? run(argc - 1, argv + 1) : 3;
}
