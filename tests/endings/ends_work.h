/* SPDX-License-Identifier: MIT */
/* A thread that makes calls and counts them in the shared file. */
#ifndef ENDS_WORK_H
#define ENDS_WORK_H

#include <aio.h>
#include <stdio.h>

#include <dftrace/dftrace.h>

#include "ends.h"

struct ends_worker {
    struct ends_slot *slot;
    uint32_t number;
    uint64_t calls, made, requests;
    int data, asynchronous;
    FILE *out, *in;
    struct aiocb block;
    struct dftrace_site site;
    char region[24], outer[24], buffer[16];
};

extern struct ends_shared *ends_shared;
/* A process whose child goes on: the C library's threads for requests are not there in the child,
 * and it waits for them for ever. */
extern int ends_without_requests;

void ends_need(int condition, const char *what);
void ends_map(const char *path);
/* Files of its own in the current directory; the outer region begins. */
void ends_begin(struct ends_worker *worker, uint64_t calls);
int ends_work(struct ends_worker *worker, uint64_t n);
/* Ends the outer region. */
void ends_leave(struct ends_worker *worker);
/* A write from a handler or destructor. */
void ends_late_call(struct ends_worker *worker);

#endif
