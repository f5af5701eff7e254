/* SPDX-License-Identifier: MIT */
/* Runs a fuzz target over the files given as arguments: the corpus as a test, without a fuzzer. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");
        uint8_t *data = malloc(1u << 20);
        size_t size = file && data ? fread(data, 1, 1u << 20, file) : 0;
        uint8_t *exact = malloc(size + 1); /* so that a sanitizer sees a read behind the end */

        if (!file || !data || !exact) {
            perror(argv[i]);
            return 1;
        }
        for (size_t at = 0; at < size; at++)
            exact[at] = data[at];
        fclose(file);
        LLVMFuzzerTestOneInput(exact, size);
        free(data);
        free(exact);
    }
    printf("%d passed, 0 failed\n", argc - 1);
    return argc < 2;
}
