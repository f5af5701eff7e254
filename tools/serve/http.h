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

/* Listens on 127.0.0.1. `port`: 0 takes a free one; *port is the one that is taken. Returns a
 * descriptor, or -errno. */
int dft_http_listen(uint16_t *port);
/* Reads a request. Returns 0, or the status that says why it is refused (400, 405, 408, 431). A
 * client that sends nothing is given up after some seconds. */
int dft_http_read(int fd, struct dft_http_request *request);
/* Answers and ends the connection. A client that reads nothing is given up after some seconds. */
void dft_http_answer(int fd, const struct dft_http_request *request, int status, const char *type, const void *body,
                     size_t length);

#endif
