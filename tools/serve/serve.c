/* SPDX-License-Identifier: MIT */
/* dftmerge serve: the page of dftmerge report over a job that runs, from a small local server.
 *
 * Each request is answered by a process of its own, which reads the traces as they are now. So
 * nothing grows in a server that runs for days, and a request that is slow holds nobody up. The
 * address holds a random token, as other users of the machine reach the same port. Who does not have it gets no
 * process. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "report/report_bytes.h"
#include "report/report_side.h"
#include "serve/connections.h"
#include "serve/http.h"

#define TOKEN    16u /* bytes */
#define IDLE_MS  1000
#define BUSY_MS  200 /* until it looks again for what has ended, or waits for too long */
#define TEXT_MAX 4096u

struct serving {
    struct dft_options *options;
    struct dft_limits limits; /* of findings */
    char token[2 * TOKEN + 1];
    int fd;
    uint16_t port;
};

static volatile sig_atomic_t is_over;

static void on_signal(int number)
{
    (void)number;
    is_over = 1;
}

/* --- answers ---------------------------------------------------------------------------------- */

/* What the command says on standard error while it makes the data: the reason why there are none. */
static void answer_reason(int fd, const struct dft_http_request *request, int messages)
{
    char text[TEXT_MAX];
    ssize_t n = messages < 0 ? 0 : pread(messages, text, sizeof text, 0);

    dft_http_answer(fd, request, 503, "text/plain; charset=utf-8", text, n > 0 ? (size_t)n : 0);
}

/* The data as they are now. */
static void answer_data(const struct serving *serving, int fd, const struct dft_http_request *request, int working)
{
    struct dft_report_side side = {.options = *serving->options, .limits = &serving->limits};
    int messages = memfd_create("messages", MFD_CLOEXEC), code;
    unsigned char *bytes = NULL;
    size_t length;

    if (messages >= 0)
        dup2(messages, STDERR_FILENO);
    side.options.source.quiet = 1;
    if (dft_report_side_make(&side, "serve", "", 0, NULL, &code) ||
        dft_report_compress(&side.report, &side.head, 1, &bytes, &length)) {
        fflush(stderr);
        close(working);
        answer_reason(fd, request, messages);
        return;
    }
    close(working);
    dft_http_answer(fd, request, 200, "application/octet-stream", bytes, length);
    free(bytes);
}

static void answer_page(int fd, const struct dft_http_request *request, int working)
{
    char *page = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&page, &length);

    if (out) {
        dft_report_page(out, "data", NULL, 0);
        fclose(out);
    }
    close(working);
    dft_http_answer(fd, request, page ? 200 : 503, "text/html; charset=utf-8", page ? page : "", length);
    free(page);
}

/* The part of the path behind the token; NULL: it has another one. The time that this takes does
 * not depend on how much of the token is right. */
static const char *behind_token(const struct serving *serving, const char *path)
{
    unsigned char wrong = 0;
    size_t length = strlen(serving->token);

    if (strlen(path) < length + 2 || path[length + 1] != '/')
        return NULL;
    for (size_t i = 0; i < length; i++)
        wrong |= (unsigned char)(path[i + 1] ^ serving->token[i]);
    return wrong ? NULL : path + length + 2;
}

/* Only who has the token gets a process. */
static int check(void *context, const struct dft_http_request *request)
{
    const char *what = behind_token(context, request->path);

    return what && (!*what || !strcmp(what, "data")) ? 0 : 404;
}

static void answer(void *context, int fd, const struct dft_http_request *request, int working)
{
    const struct serving *serving = context;

    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    dft_http_wait(fd);
    if (*behind_token(serving, request->path))
        answer_data(serving, fd, request, working);
    else
        answer_page(fd, request, working);
}

/* --- the server ------------------------------------------------------------------------------- */

static int make_token(struct serving *serving)
{
    unsigned char bytes[TOKEN];

    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return -errno;
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(serving->token + 2 * i, 3, "%02x", bytes[i]);
    return 0;
}

static void serve(const struct serving *serving)
{
    const struct sigaction action = {.sa_handler = on_signal};
    struct dft_connections connections = {.listening = serving->fd,
                                          .list = calloc(DFT_CONNECTIONS, sizeof *connections.list),
                                          .check = check,
                                          .answer = answer,
                                          .context = (void *)(uintptr_t)serving};

    if (!connections.list) {
        fputs("dftmerge serve: no memory\n", stderr);
        return;
    }

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGCHLD, SIG_DFL); /* who starts this may ignore it, and then no child can be waited for */
    printf("http://127.0.0.1:%u/%s/\n", (unsigned)serving->port, serving->token);
    fflush(stdout);
    if (!serving->options->source.quiet)
        fputs("The page updates each second, on this machine alone; Ctrl-C ends it. From another machine:\n"
              "ssh -L PORT:127.0.0.1:PORT HOST, with the port of this address.\n",
              stderr);
    while (!is_over)
        dft_connections_turn(&connections, connections.count + connections.nanswering ? BUSY_MS : IDLE_MS);
    dft_connections_fini(&connections);
    free(connections.list);
}

/* What does not exist is a mistake. What holds no trace yet may be a job that has just begun. */
static int check_paths(const struct dft_options *options)
{
    for (int i = 0; i < options->source.npaths; i++)
        if (!strpbrk(options->source.paths[i], "*?[") && access(options->source.paths[i], R_OK)) {
            fprintf(stderr, "dftmerge serve: %s: %s\n", options->source.paths[i], strerror(errno));
            return -ENOENT;
        }
    return 0;
}

/* Returns 0 or -EINVAL after an error. */
static int parse_port(const char *text, uint16_t *port)
{
    char *end;
    long n = text ? strtol(text, &end, 10) : 0;

    *port = (uint16_t)n;
    if (!text || (*text >= '0' && *text <= '9' && !*end && n <= 65535))
        return 0;
    fprintf(stderr, "dftmerge serve: --port %s: not a port, as in 8080 (0: any that is free)\n", text);
    return -EINVAL;
}

static int run(int argc, char **argv)
{
    const char *port = NULL, *rules = NULL;
    int no_risk = 0;
    struct dft_options options;
    struct serving serving = {.options = &options};
    const struct dft_option own[] = {
        {"port", 'p', "PORT", &port, NULL, "The port to listen on (default: any that is free)"},
        {"rules", 0, "FILE", &rules, NULL, "Take limits of findings from FILE (see dftmerge findings)"},
        {"no-risk", 0, NULL, NULL, &no_risk, "Leave out the risks among the findings"},
        {0},
    };
    int code, rc = 0;

    if (dft_options_parse(&options, &dft_command_serve, own, argc, argv, &code))
        return code;
    code = DFT_EXIT_USAGE;
    if (parse_port(port, &serving.port) || dft_limits_choose(&serving.limits, "serve", rules, no_risk))
        goto out;
    code = DFT_EXIT_BAD;
    if (check_paths(&options))
        goto out;
    rc = make_token(&serving);
    serving.fd = rc ? rc : dft_http_listen(&serving.port);
    if (serving.fd < 0) {
        fprintf(stderr, "dftmerge serve: port %u of 127.0.0.1: %s\n", (unsigned)serving.port, strerror(-serving.fd));
        goto out;
    }
    serve(&serving);
    close(serving.fd);
    code = DFT_EXIT_OK;
out:
    dft_options_fini(&options);
    return code;
}

const struct dft_command dft_command_serve = {
    .name = "serve",
    .arguments = "PATH...",
    .brief = "The page of report over a running job, in a browser",
    .details =
        "Prints an address. A browser of this machine shows the page there, as the traces are at that moment. The "
        "server listens on 127.0.0.1 alone, and its address holds a random token. It reads traces and writes "
        "nothing.",
    .example = "dftmerge serve traces/",
    .takes = DFT_TAKES_FILTER | DFT_TAKES_CLASSES,
    .run = run,
};
