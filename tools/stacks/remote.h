/* SPDX-License-Identifier: MIT */
/* The call stacks of another process's threads: registers and stack are copied while a thread is
 * stopped, libunwind walks through the copy later. Needs libunwind. */
#ifndef DFT_REMOTE_H
#define DFT_REMOTE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define DFT_REMOTE_REGISTERS_MAX 64
#define DFT_REMOTE_FRAMES_MAX    256u

/* A process, with its mappings. */
struct dft_remote;

/* A thread at one moment. */
struct dft_remote_thread {
    uint64_t registers[DFT_REMOTE_REGISTERS_MAX]; /* as PTRACE_GETREGSET gives them */
    uint64_t stack_from;                          /* the stack's address there */
    char *stack;                                  /* the copy; NULL: memory is read when it is requested */
    size_t stack_bytes;
};

struct dft_remote_frame {
    uint64_t pc, sp;
    int is_exact; /* the address is that of the next instruction, not what a call returns to */
};

struct dft_remote_module {
    const char *path;  /* until the next walk */
    uint64_t build_id; /* the first 8 bytes; 0: none is known */
    uint64_t address;  /* as the file's symbols have addresses */
};

/* Returns 0 or -errno. */
int dft_remote_create(struct dft_remote **out, pid_t pid);
void dft_remote_destroy(struct dft_remote *remote);

/* Copies what a walk needs; the thread is stopped and the caller is its tracer. `thread` has zeros
 * or an older copy. Returns 0 or -errno. */
int dft_remote_take(struct dft_remote *remote, pid_t tid, struct dft_remote_thread *thread);

/* Walks from the innermost frame. Returns the number of frames. */
uint32_t dft_remote_walk(struct dft_remote *remote, const struct dft_remote_thread *thread,
                         struct dft_remote_frame frames[DFT_REMOTE_FRAMES_MAX]);

/* The file that an address lies in. Nonzero: it lies in none. */
int dft_remote_find(struct dft_remote *remote, uint64_t address, struct dft_remote_module *module);

#endif
