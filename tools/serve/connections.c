/* SPDX-License-Identifier: MIT */
/* One process reads all requests; others answer them. */
#include "serve/connections.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/now.h"

#define PATIENCE_NS   UINT64_C(10000000000) /* with a request that is not whole */
#define AT_ONCE       16                    /* connections that one turn takes: requests are read in between */
#define SPARE_NUMBERS 6                     /* a pipe, a connection, the rest of the process */

/* --- connections ------------------------------------------------------------------------------ */

static void drop(struct dft_connections *connections, uint32_t i)
{
    close(connections->list[i].received.fd);
    memmove(&connections->list[i], &connections->list[i + 1], (--connections->count - i) * sizeof *connections->list);
}

/* A short answer fits into the empty buffer of the connection, so it waits for nobody. */
static void refuse(struct dft_connections *connections, uint32_t i, int status)
{
    dft_http_refuse(connections->list[i].received.fd, &connections->list[i].received.request, status);
    drop(connections, i);
}

/* The oldest connection goes; one whose request is whole only if all are. */
static void make_way(struct dft_connections *connections)
{
    uint32_t i = 0;

    while (i < connections->count && connections->list[i].is_ready)
        i++;
    drop(connections, i < connections->count ? i : 0);
}

/* The processes that answer need numbers, too. */
static uint32_t most_at_once(const struct dft_connections *connections)
{
    long most = sysconf(_SC_OPEN_MAX) - connections->listening - (long)DFT_WORKING - SPARE_NUMBERS;

    return most < 1 ? 1 : most < (long)DFT_CONNECTIONS ? (uint32_t)most : DFT_CONNECTIONS;
}

static void take(struct dft_connections *connections)
{
    const uint32_t most = most_at_once(connections);

    for (int i = 0; i < AT_ONCE; i++) {
        int fd = accept4(connections->listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (fd < 0)
            return;
        if (connections->count >= most)
            make_way(connections);
        connections->list[connections->count++] = (struct dft_connection){.received.fd = fd, .since_ns = dft_now_ns()};
    }
}

/* --- processes -------------------------------------------------------------------------------- */

static void stop_working(struct dft_connections *connections, uint32_t i)
{
    if (connections->answering[i].working < 0)
        return;
    close(connections->answering[i].working);
    connections->answering[i].working = -1;
    connections->nworking--;
}

static void forget(struct dft_connections *connections, uint32_t i)
{
    stop_working(connections, i);
    memmove(&connections->answering[i], &connections->answering[i + 1],
            (--connections->nanswering - i) * sizeof *connections->answering);
}

static void reap(struct dft_connections *connections)
{
    pid_t pid;

    while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
        for (uint32_t i = 0; i < connections->nanswering; i++)
            if (connections->answering[i].pid == pid) {
                forget(connections, i);
                break;
            }
}

/* Ends the process that has been sending for the longest time. */
static void make_room(struct dft_connections *connections)
{
    uint32_t i = 0;

    while (i + 1 < connections->nanswering && connections->answering[i].working >= 0)
        i++;
    kill(connections->answering[i].pid, SIGKILL);
    waitpid(connections->answering[i].pid, NULL, 0);
    forget(connections, i);
}

/* What the process of an answer has of the others' is closed, so that they end when they are dropped. */
static void leave_others(const struct dft_connections *connections, uint32_t own)
{
    close(connections->listening);
    for (uint32_t i = 0; i < connections->count; i++)
        if (i != own)
            close(connections->list[i].received.fd);
    for (uint32_t i = 0; i < connections->nanswering; i++)
        if (connections->answering[i].working >= 0)
            close(connections->answering[i].working);
}

static void begin(struct dft_connections *connections, uint32_t i)
{
    const struct dft_connection *connection = &connections->list[i];
    int working[2] = {-1, -1};
    pid_t pid;

    if (connections->nanswering == DFT_ANSWERS)
        make_room(connections);
    pid = pipe2(working, O_CLOEXEC) ? -1 : fork();
    if (!pid) {
        close(working[0]);
        leave_others(connections, i);
        connections->answer(connections->context, connection->received.fd, &connection->received.request, working[1]);
        _exit(0);
    }
    if (working[1] >= 0)
        close(working[1]);
    if (pid < 0) {
        if (working[0] >= 0)
            close(working[0]);
        refuse(connections, i, 503);
        return;
    }
    connections->answering[connections->nanswering++] = (struct dft_answering){pid, working[0]};
    connections->nworking++;
    drop(connections, i);
}

/* --- turns ------------------------------------------------------------------------------------ */

/* Returns whether the connection is still there. */
static int advance(struct dft_connections *connections, uint32_t i, int is_readable)
{
    struct dft_connection *connection = &connections->list[i];
    int status = connection->is_ready || !is_readable ? 0 : dft_http_receive(&connection->received);

    if (!connection->is_ready && !status && is_readable && connection->received.is_whole) {
        status = connections->check(connections->context, &connection->received.request);
        connection->is_ready = !status;
    }
    if (!status && !connection->is_ready && dft_now_ns() - connection->since_ns > PATIENCE_NS)
        status = 408;
    if (status)
        refuse(connections, i, status);
    else if (connection->is_ready && connections->nworking < DFT_WORKING)
        begin(connections, i);
    else
        return 1;
    return 0;
}

void dft_connections_turn(struct dft_connections *connections, int wait_ms)
{
    struct pollfd polled[1 + DFT_CONNECTIONS + DFT_ANSWERS] = {{.fd = connections->listening, .events = POLLIN}};
    struct pollfd *const of_list = polled + 1, *const of_answers = of_list + connections->count;
    const uint32_t count = connections->count;

    for (uint32_t i = 0; i < count; i++) /* what waits for a process is not polled */
        of_list[i] = (struct pollfd){.fd = connections->list[i].is_ready ? -1 : connections->list[i].received.fd,
                                     .events = POLLIN};
    for (uint32_t i = 0; i < connections->nanswering; i++)
        of_answers[i] = (struct pollfd){.fd = connections->answering[i].working};
    if (poll(polled, 1 + count + connections->nanswering, wait_ms) < 0)
        memset(polled, 0, sizeof polled);
    for (uint32_t i = 0; i < connections->nanswering; i++)
        if (of_answers[i].revents)
            stop_working(connections, i);
    reap(connections);
    for (uint32_t i = 0, at = 0; i < count; i++)
        at += (uint32_t)advance(connections, at, of_list[i].revents != 0);
    if (polled[0].revents)
        take(connections);
}

void dft_connections_fini(struct dft_connections *connections)
{
    while (connections->count)
        drop(connections, 0);
    for (uint32_t i = 0; i < connections->nanswering; i++)
        stop_working(connections, i);
}
