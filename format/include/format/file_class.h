/* SPDX-License-Identifier: MIT */
/* The files of classes.def: by a path, which class its calls are of. */
#ifndef DFT_FILE_CLASS_H
#define DFT_FILE_CLASS_H

#include <stddef.h>

#include "format/ops.h"

/* The class of the file at this path. DFT_IO_NONE: it has none of its own. Nothing behind the text is
 * read. */
enum dft_io dft_file_class(const char *path, size_t length);

/* Is it a shared library, by its name? */
int dft_file_is_library(const char *path, size_t length);

/* Is this an operation that looks at a file or reads it, and leaves it as it is? */
static inline int dft_op_only_looks(uint8_t op)
{
    const uint64_t looks = UINT64_C(1) << DFT_OP_OTHER | UINT64_C(1) << DFT_OP_OPEN | UINT64_C(1) << DFT_OP_CLOSE |
                           UINT64_C(1) << DFT_OP_READ | UINT64_C(1) << DFT_OP_PREAD | UINT64_C(1) << DFT_OP_SEEK |
                           UINT64_C(1) << DFT_OP_STAT | UINT64_C(1) << DFT_OP_CONTROL | UINT64_C(1) << DFT_OP_OPENDIR |
                           UINT64_C(1) << DFT_OP_READDIR | UINT64_C(1) << DFT_OP_CLOSEDIR | UINT64_C(1) << DFT_OP_DUP |
                           UINT64_C(1) << DFT_OP_FOPEN | UINT64_C(1) << DFT_OP_FCLOSE | UINT64_C(1) << DFT_OP_FREAD |
                           UINT64_C(1) << DFT_OP_FGETS | UINT64_C(1) << DFT_OP_FSEEK | UINT64_C(1) << DFT_OP_FTELL |
                           UINT64_C(1) << DFT_OP_MAP | UINT64_C(1) << DFT_OP_ADVICE;

    return op < 64 && looks >> op & 1;
}

/* The class of a call of this operation on a file of that class. */
static inline enum dft_io dft_io_on(uint8_t op, enum dft_io file)
{
    enum dft_io io = dft_op_io(op);

    return file == DFT_IO_NONE || io == DFT_IO_NONE || (file == DFT_IO_STARTUP && !dft_op_only_looks(op)) ? io : file;
}

/* What a slot of a record says of it: enum dft_io + 1, or 0: the class is that of the operation. */
static inline uint8_t dft_io_code(uint8_t op, enum dft_io file)
{
    enum dft_io io = dft_io_on(op, file);

    return io == dft_op_io(op) ? 0 : (uint8_t)(io + 1);
}

#endif
