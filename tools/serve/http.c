/* SPDX-License-Identifier: MIT */
/* HTTP/1.1, as little of it as a page and its data need: GET and HEAD, one request a connection. */
#include "serve/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define BACKLOG  128
#define PATIENCE 10 /* seconds for each write of an answer */

int dft_http_listen(uint16_t *port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(*port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1, error;

    if (fd < 0)
        return -errno;
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) ||
        bind(fd, (struct sockaddr *)&address, sizeof address) || listen(fd, BACKLOG) ||
        getsockname(fd, (struct sockaddr *)&address, &length)) {
        error = -errno;
        close(fd);
        return error;
    }
    *port = ntohs(address.sin_port);
    return fd;
}

/* "GET /path?query HTTP/1.1". Returns 0 or a status. */
static int parse(char *line, struct dft_http_request *request)
{
    char *path = strchr(line, ' '), *end = path ? strchr(path + 1, ' ') : NULL;

    if (!end || strncmp(end + 1, "HTTP/1.", 7) || path[1] != '/')
        return 400;
    *path++ = *end = '\0';
    request->is_head = !strcmp(line, "HEAD");
    if (!request->is_head && strcmp(line, "GET"))
        return 405;
    path[strcspn(path, "?#")] = '\0';
    if (strlen(path) >= sizeof request->path)
        return 431;
    memcpy(request->path, path, strlen(path) + 1);
    return 0;
}

int dft_http_receive(struct dft_http_received *received)
{
    char *head = received->head;
    ssize_t n = recv(received->fd, head + received->count, DFT_HTTP_HEAD - received->count, MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (n <= 0)
        return 400;
    received->count += (size_t)n;
    if (!memmem(head, received->count, "\r\n\r\n", 4) && !memmem(head, received->count, "\n\n", 2))
        return received->count == DFT_HTTP_HEAD ? 431 : 0;
    head[received->count] = '\0';
    if (strlen(head) != received->count)
        return 400;
    head[strcspn(head, "\r\n")] = '\0';
    received->is_whole = 1;
    return parse(head, &received->request);
}

static const char *word_of(int status)
{
    switch (status) {
    case 200:
        return "OK";
    case 404:
        return "Not Found";
    case 405:
        return "Method Not Allowed";
    case 408:
        return "Request Timeout";
    case 431:
        return "Request Header Fields Too Large";
    case 503:
        return "Service Unavailable";
    default:
        return "Bad Request";
    }
}

static int send_all(int fd, const char *bytes, size_t length)
{
    while (length) {
        ssize_t n = send(fd, bytes, length, MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return -1;
        bytes += n;
        length -= (size_t)n;
    }
    return 0;
}

void dft_http_refuse(int fd, const struct dft_http_request *request, int status)
{
    static const char missing[] =
        "There is nothing here. The address that dftmerge serve has printed is the right one.\n";

    dft_http_answer(fd, request, status, "text/plain; charset=utf-8", missing, sizeof missing - 1);
}

void dft_http_wait(int fd)
{
    const struct timeval patience = {.tv_sec = PATIENCE};

    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
}

void dft_http_answer(int fd, const struct dft_http_request *request, int status, const char *type, const void *body,
                     size_t length)
{
    char head[512];
    int n = snprintf(head, sizeof head,
                     "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nConnection: close\r\n"
                     "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n"
                     "Cross-Origin-Resource-Policy: same-origin\r\n\r\n",
                     status, word_of(status), type, length);

    if (!send_all(fd, head, (size_t)n) && !request->is_head)
        send_all(fd, body, length);
    shutdown(fd, SHUT_WR);
}
