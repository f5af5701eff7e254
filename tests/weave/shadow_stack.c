/* SPDX-License-Identifier: MIT */
/* Runs a program step by step, as a processor with a shadow stack does: each return must go to
 * where its call was made.
 *
 * The steps are those between the program's two breakpoints. The last line says how many were taken
 * and how many calls were made; exit code 1: a return went elsewhere, 2: the program did not end
 * well, 77: it cannot be traced here. */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEPTH      4096
#define BREAKPOINT 0xcc

enum kind { OTHER, CALL, RETURN };

static pid_t program;

static uint64_t word_at(uint64_t address)
{
    return (uint64_t)ptrace(PTRACE_PEEKTEXT, program, address, NULL);
}

static enum kind kind_of(uint64_t bytes)
{
    for (;; bytes >>= 8) {
        unsigned byte = bytes & 0xff, operand = bytes >> 8 & 0xff;

        switch (byte) {
        case 0x26:
        case 0x2e:
        case 0x36:
        case 0x3e:
        case 0x64:
        case 0x65:
        case 0x66:
        case 0x67:
        case 0xf0:
        case 0xf2:
        case 0xf3:
            continue;
        case 0xe8:
            return CALL;
        case 0xff:
            return (operand >> 3 & 7) == 2 ? CALL : OTHER;
        case 0xc2:
        case 0xc3:
            return RETURN;
        default:
            if ((byte & 0xf0) != 0x40)
                return OTHER;
        }
    }
}

/* To the next stop. */
static void go(enum __ptrace_request how, int signal)
{
    int status;

    if (ptrace(how, program, NULL, (void *)(intptr_t)signal) || waitpid(program, &status, 0) < 0 ||
        !WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP) {
        fprintf(stderr, "the program went away between its breakpoints\n");
        exit(2);
    }
}

static int follow(void)
{
    static uint64_t stack[DEPTH];
    unsigned long steps = 0, calls = 0;
    struct user_regs_struct at, next;
    unsigned depth = 0;

    ptrace(PTRACE_GETREGS, program, NULL, &at);
    for (uint64_t bytes; ((bytes = word_at(at.rip)) & 0xff) != BREAKPOINT; at = next, steps++) {
        enum kind kind = kind_of(bytes);

        go(PTRACE_SINGLESTEP, 0);
        ptrace(PTRACE_GETREGS, program, NULL, &next);
        if (kind == CALL && depth < DEPTH) {
            stack[depth++] = word_at(next.rsp);
            calls++;
        } else if (kind == RETURN && (!depth || stack[--depth] != next.rip)) {
            printf("the return at %#llx goes to %#llx, its call was made before %#llx\n", at.rip, next.rip,
                   depth ? (unsigned long long)stack[depth] : 0);
            return 1;
        }
    }
    printf("%lu steps, %lu calls\n", steps, calls);
    return 0;
}

int main(int argc, char **argv)
{
    int result, status;

    (void)argc;
    program = fork();
    if (!program) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
            _exit(77);
        execv(argv[1], argv + 1);
        _exit(2);
    }
    if (waitpid(program, &status, 0) < 0 || !WIFSTOPPED(status)) /* at its exec */
        return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
    go(PTRACE_CONT, 0);
    result = follow();
    if (result) {
        kill(program, SIGKILL);
        return result;
    }
    go(PTRACE_SINGLESTEP, 0);
    ptrace(PTRACE_CONT, program, NULL, NULL);
    return waitpid(program, &status, 0) > 0 && WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : 2;
}
