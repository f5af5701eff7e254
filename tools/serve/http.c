/* SPDX-License-Identifier: MIT */
/* HTTP/1.1, as little of it as a page and its data need: GET and HEAD, one request a connection. */
#include "serve/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define BACKLOG  16
#define HEAD_MAX 8192u
#define PATIENCE 10 /* seconds for a request, and for each write of an answer */

int dft_http_listen(uint16_t *port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(*port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1, error;

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

static void set_patience(int fd, int option, time_t seconds)
{
    const struct timeval time = {.tv_sec = seconds};

    setsockopt(fd, SOL_SOCKET, option, &time, sizeof time);
}

int dft_http_read(int fd, struct dft_http_request *request)
{
    char head[HEAD_MAX + 1];
    size_t count = 0;
    time_t end = time(NULL) + PATIENCE;

    *request = (struct dft_http_request){.path = ""};
    set_patience(fd, SO_RCVTIMEO, 1);
    set_patience(fd, SO_SNDTIMEO, PATIENCE);
    do {
        ssize_t n = count < HEAD_MAX ? recv(fd, head + count, HEAD_MAX - count, 0) : 0;

        if (count == HEAD_MAX)
            return 431;
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
            return 400;
        if (time(NULL) > end)
            return 408;
        count += n > 0 ? (size_t)n : 0;
    } while (!memmem(head, count, "\r\n\r\n", 4) && !memmem(head, count, "\n\n", 2));
    head[count] = '\0';
    if (strlen(head) != count)
        return 400;
    head[strcspn(head, "\r\n")] = '\0';
    return parse(head, request);
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
