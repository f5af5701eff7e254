/* SPDX-License-Identifier: MIT */
/* Owns the terminal's modes. A signal that ends the program gives the terminal back first: all that
 * is needed for that is safe in a signal handler. */
#include "top/screen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/write_text.h"

#define ENTER "\033[?1049h\033[?25l\033[?7l" /* the other page, no cursor, long lines are cut */
#define LEAVE "\033[?7h\033[?25h\033[?1049l"

static struct termios before;
static volatile sig_atomic_t is_ours;
static char keys[64];
static size_t nkeys;

static void put(const char *text, size_t length)
{
    while (length) {
        ssize_t done = write(STDOUT_FILENO, text, length);

        if (done < 0 && errno != EINTR && errno != EAGAIN)
            return;
        if (done > 0) {
            text += done;
            length -= (size_t)done;
        }
    }
}

static void take(void)
{
    struct termios raw = before;

    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
    put(ENTER, sizeof ENTER - 1);
    is_ours = 1;
}

static void give_back(void)
{
    if (!is_ours)
        return;
    is_ours = 0;
    put(LEAVE, sizeof LEAVE - 1);
    tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
}

static void on_end(int number)
{
    int error = errno;

    give_back();
    signal(number, SIG_DFL);
    raise(number); /* it is delivered when this handler returns */
    errno = error;
}

static void on_stop(int number)
{
    struct sigaction stop = {.sa_handler = on_stop}, usual = {.sa_handler = SIG_DFL};
    sigset_t set, old;
    int error = errno;

    give_back();
    sigaction(number, &usual, NULL);
    sigemptyset(&set);
    sigaddset(&set, number);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &set, &old); /* here it stops */
    sigprocmask(SIG_SETMASK, &old, NULL);
    sigaction(number, &stop, NULL);
    take();
    errno = error;
}

static void on_size(int number)
{
    (void)number; /* poll returns, and a frame of the new size is made */
}

int dft_top_screen_is(void)
{
    return dft_terminal_is() && isatty(STDIN_FILENO);
}

int dft_top_screen_begin(void)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGPIPE};
    struct sigaction end = {.sa_handler = on_end}, stop = {.sa_handler = on_stop}, size = {.sa_handler = on_size};

    if (tcgetattr(STDIN_FILENO, &before) < 0)
        return -errno;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        sigaction(ends[i], &end, NULL);
    sigaction(SIGTSTP, &stop, NULL);
    sigaction(SIGWINCH, &size, NULL);
    take();
    return 0;
}

void dft_top_screen_end(void)
{
    give_back();
}

void dft_top_screen_size(unsigned *width, unsigned *height)
{
    struct winsize size;
    int is_known = !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col && size.ws_row;

    *width = is_known ? size.ws_col : 80;
    *height = is_known ? size.ws_row : 24;
}

void dft_top_screen_show(const char *text, size_t length, unsigned height)
{
    const char *end = text + length;

    put("\033[H", 3);
    while (text < end && height--) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));

        put(text, (size_t)((stop ? stop : end) - text));
        put("\033[K", 3);
        if (stop && stop + 1 < end && height) /* behind the last line the screen would move */
            put("\r\n", 2);
        text = stop ? stop + 1 : end;
    }
    put("\033[J", 3);
}

/* Takes the first key out of what was read. */
static int next_key(void)
{
    static const struct {
        const char *bytes;
        int key;
    } words[] = {{"\033[A", DFT_TOP_KEY_UP},    {"\033[B", DFT_TOP_KEY_DOWN}, {"\033[C", DFT_TOP_KEY_RIGHT},
                 {"\033[D", DFT_TOP_KEY_LEFT},  {"\033OA", DFT_TOP_KEY_UP},   {"\033OB", DFT_TOP_KEY_DOWN},
                 {"\033OC", DFT_TOP_KEY_RIGHT}, {"\033OD", DFT_TOP_KEY_LEFT}};
    size_t used = 1;
    int key = (unsigned char)keys[0];

    if (key == '\033') {
        key = DFT_TOP_KEY_ESCAPE;
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            if (nkeys >= 3 && !memcmp(keys, words[i].bytes, 3)) {
                key = words[i].key;
                used = 3;
            }
        if (used == 1 && nkeys > 1 && keys[1] == '[') { /* a key that means nothing here */
            for (used = 2; used < nkeys && (unsigned char)keys[used] < 0x40; used++)
                ;
            used += used < nkeys;
            key = DFT_TOP_KEY_NONE;
        }
    }
    nkeys -= used;
    memmove(keys, keys + used, nkeys);
    return key;
}

int dft_top_screen_key(int timeout_ms)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    ssize_t n;

    if (nkeys)
        return next_key();
    if (poll(&input, 1, timeout_ms) <= 0)
        return DFT_TOP_KEY_NONE;
    n = read(STDIN_FILENO, keys, sizeof keys);
    if (n <= 0)
        return n < 0 && (errno == EINTR || errno == EAGAIN) ? DFT_TOP_KEY_NONE : DFT_TOP_KEY_GONE;
    nkeys = (size_t)n;
    return next_key();
}
