/* SPDX-License-Identifier: MIT */
/* The connections that have not sent their request yet, and the processes that answer. Any user of the machine can
 * connect, and say nothing, half of a request, or not read the answer: no such connection holds another one up. */
#ifndef DFT_CONNECTIONS_H
#define DFT_CONNECTIONS_H

#include <stdint.h>
#include <sys/types.h>

#include "serve/http.h"

#define DFT_CONNECTIONS 64u /* at once; the oldest one makes room */
#define DFT_ANSWERS     64u /* processes at once; the oldest one that sends makes room */
#define DFT_WORKING     8u  /* of these, processes that make their answer */

struct dft_connection {
    struct dft_http_received received;
    uint64_t since_ns;
    int is_ready; /* its request is whole, and waits for a process */
};

struct dft_answering {
    pid_t pid;
    int working; /* the end of a pipe that the process closes once it sends; -1: it did */
};

struct dft_connections {
    int listening;
    struct dft_connection *list; /* the oldest first; room for DFT_CONNECTIONS */
    uint32_t count, nanswering, nworking;
    struct dft_answering answering[DFT_ANSWERS]; /* the oldest first */
    /* Says what to do with a whole request. 0: a process is to answer it; else a status that refuses it. */
    int (*check)(void *context, const struct dft_http_request *request);
    /* Answers in a process of its own. `working` is to be closed before the answer is sent. */
    void (*answer)(void *context, int fd, const struct dft_http_request *request, int working);
    void *context;
};

/* Waits for at most so long, and does what there is to do. */
void dft_connections_turn(struct dft_connections *connections, int wait_ms);
/* Closes all connections. The processes end by themselves. */
void dft_connections_fini(struct dft_connections *connections);

#endif
