/* SPDX-License-Identifier: MIT */
/* A server of HTTP for one machine: it listens on 127.0.0.1, and reads one request a connection. */
#ifndef DFT_HTTP_H
#define DFT_HTTP_H

#include <stddef.h>
#include <stdint.h>

#define DFT_HTTP_PATH 256u

struct dft_http_request {
    char path[DFT_HTTP_PATH]; /* with its leading slash; without a query */
    int is_head;              /* HEAD: the answer has no body */
};

/* A request that comes in pieces. All zero at first, but fd. */
#define DFT_HTTP_HEAD 8192u
struct dft_http_received {
    int fd, is_whole;
    size_t count;
    char head[DFT_HTTP_HEAD + 1];
    struct dft_http_request request;
};

/* Listens on 127.0.0.1. `port`: 0 takes a free one; *port is the one that is taken. Returns a
 * descriptor, or -errno. */
int dft_http_listen(uint16_t *port);
/* Reads what has come of a request, without waiting. Returns 0, or the status that says why it is refused (400, 405,
 * 431). */
int dft_http_receive(struct dft_http_received *received);
/* Refuses with a short text. */
void dft_http_refuse(int fd, const struct dft_http_request *request, int status);
/* From now on an answer waits for a client that reads slowly. */
void dft_http_wait(int fd);
/* Answers and ends the connection. A client that reads nothing is given up after some seconds. */
void dft_http_answer(int fd, const struct dft_http_request *request, int status, const char *type, const void *body,
                     size_t length);

#endif
