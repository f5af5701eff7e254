/* SPDX-License-Identifier: MIT */
/* Owns the walk through the frames of the Python program, without the GIL, references, locks or
 * memory. The layouts are those of CPython 3.9 to 3.13 on 64-bit machines; a test at the start
 * shows whether this interpreter has one of them. */
#include "core_frames.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core_frames_inside.h"

#define FRAMES_MAX    100000 /* a longer chain is a circle */
#define LINES_MAX     (1 << 22)
#define FUNCTION_MOST 128u /* bytes of a function's name */
#define BYTES_SIZE    16u
#define BYTES_START   32u

/* clang-format off */
static const struct core_layout layouts[] = {
    {.minor = 9, .state_frame = 24, .frame_bytes = 112, .frame_back = 24, .frame_code = 32, .frame_at = 104,
     .code_bytes = 128, .code_file = 104, .code_name = 112, .code_first_line = 40, .code_lines = 120,
     .text_ascii = 48, .text_other = 72},
    {.minor = 10, .state_frame = 24, .frame_bytes = 104, .frame_back = 24, .frame_code = 32, .frame_at = 96,
     .code_bytes = 128, .code_file = 104, .code_name = 112, .code_first_line = 40, .code_lines = 120,
     .text_ascii = 48, .text_other = 72},
    {.minor = 11, .state_frame = 56, .cframe_frame = 8, .frame_bytes = 72, .frame_back = 48, .frame_code = 32,
     .frame_at = 56, .frame_is_loop = 68, .code_bytes = 144, .code_file = 112, .code_name = 128,
     .code_first_line = 72, .code_lines = 136, .code_instructions = 184, .text_ascii = 48, .text_other = 72},
    {.minor = 12, .state_frame = 56, .cframe_frame = 0, .frame_bytes = 72, .frame_back = 8, .frame_code = 0,
     .frame_at = 56, .frame_owner = 70, .code_bytes = 144, .code_file = 112, .code_name = 128,
     .code_first_line = 68, .code_lines = 136, .code_instructions = 192, .text_ascii = 40, .text_other = 56},
    {.minor = 13, .state_frame = 72, .frame_bytes = 72, .frame_back = 8, .frame_code = 0,
     .frame_at = 56, .frame_owner = 70, .code_bytes = 144, .code_file = 112, .code_name = 128,
     .code_first_line = 68, .code_lines = 136, .code_instructions = 200, .text_ascii = 40, .text_other = 56},
};
/* clang-format on */

static const struct core_layout *layout;
static core_line_fn *line_of;
static const void *type_of_code;
static int (*is_finalizing)(void);
static char own_folder[1024]; /* frames of this package are not the program's */
static size_t own_length;

/* --- a frame ---------------------------------------------------------------------------------- */

/* Where the frame is in its code, in bytes. */
static int64_t offset_of(const char *frame, const char *code)
{
    if (layout->code_instructions)
        return (int64_t)(core_word(frame, layout->frame_at) - (uintptr_t)(code + layout->code_instructions));
    return (int64_t)core_number(frame, layout->frame_at) * (layout->minor == 10 ? 2 : 1);
}

static int64_t find_line(struct core_reader *reader, const char *frame, const char *code)
{
    const uint8_t *table = core_pointer(code, layout->code_lines);
    struct core_lines lines = {.first_line = core_number(code, layout->code_first_line)};
    uintptr_t length;

    if (!core_can_read(reader, table, BYTES_START) || core_pointer(table, 8) != &PyBytes_Type)
        return lines.first_line;
    length = core_word(table, BYTES_SIZE);
    if (length > LINES_MAX || !core_can_read(reader, table + BYTES_START, length + 1))
        return lines.first_line;
    lines.at = table + BYTES_START;
    lines.end = lines.at + length;
    lines.offset = offset_of(frame, code);
    return core_line(&lines, line_of);
}

static size_t put_number(char *to, int64_t number)
{
    char digits[20];
    size_t n = 0, used = 0;

    if (number < 0)
        number = 0;
    do
        digits[n++] = (char)('0' + number % 10);
    while ((number /= 10));
    while (n)
        to[used++] = digits[--n];
    return used;
}

/* "file:line function". Returns 0: the walk ends. */
static int put_frame(struct core_reader *reader, const char *frame, const char *code)
{
    char text[CORE_FRAME_TEXT];
    size_t used = core_frames_text(reader, layout, core_pointer(code, layout->code_file), text,
                                   CORE_FRAME_TEXT - FUNCTION_MOST - 24);
    size_t from;

    if (!used)
        return 1; /* half made, or no name */
    if (own_length && used > own_length && memcmp(text, own_folder, own_length) == 0)
        return 1;
    text[used++] = ':';
    used += put_number(text + used, find_line(reader, frame, code));
    text[used++] = ' ';
    from = used;
    used += core_frames_text(reader, layout, core_pointer(code, layout->code_name), text + used, FUNCTION_MOST);
    for (char *space = text + from; (space = memchr(space, ' ', (size_t)(text + used - space)));)
        *space = '_'; /* the last space stands before the function */
    return reader->walk->put_frame(reader->walk, text, used);
}

/* --- the frames ------------------------------------------------------------------------------- */

static const char *innermost_frame(struct core_reader *reader, const void *state)
{
    const char *frame = core_pointer(state, layout->state_frame);

    if (layout->minor != 11 && layout->minor != 12)
        return frame;
    return core_can_read(reader, frame, 16) ? core_pointer(frame, layout->cframe_frame) : NULL;
}

/* Was the loop called for this frame? From 3.12 on a frame of its own says so. */
static int begins_loop(const char *frame)
{
    return !layout->code_instructions || (layout->frame_is_loop && frame[layout->frame_is_loop]);
}

static void walk_frames(struct dftrace_walk *walk)
{
    const void *state = PyGILState_GetThisThreadState();
    struct core_reader reader = {.walk = walk};
    const char *frame;

    /* At the end of the interpreter the states of other threads are freed under their feet. */
    if (!state || !core_can_read(&reader, state, layout->state_frame + 8u) || (is_finalizing() && getpid() != gettid()))
        return;
    frame = innermost_frame(&reader, state);
    for (int i = 0; i < FRAMES_MAX && frame && core_can_read(&reader, frame, layout->frame_bytes); i++) {
        const char *code = core_pointer(frame, layout->frame_code);

        if (layout->frame_owner && frame[layout->frame_owner] == CORE_OWNED_BY_LOOP) {
            walk->end_loop(walk);
        } else if (core_can_read(&reader, code, layout->code_bytes) && core_pointer(code, 8) == type_of_code) {
            if (!put_frame(&reader, frame, code))
                return;
            if (begins_loop(frame))
                walk->end_loop(walk);
        }
        frame = core_pointer(frame, layout->frame_back);
    }
}

/* --- the test at the start -------------------------------------------------------------------- */

/* Frames of all kinds, with names of all widths. The walk must say what the interpreter says. */
static const char test_source[] = "def chain(frame):\n"
                                  "    while frame is not None:\n"
                                  "        code = frame.f_code\n"
                                  "        name = getattr(code, 'co_qualname', code.co_name)\n"
                                  "        yield '%s:%d %s' % (code.co_filename, frame.f_lineno, name)\n"
                                  "        frame = frame.f_back\n"
                                  "def generator(deep):\n"
                                  "    yield [0,\n"
                                  "           Ж().ё(deep),\n"
                                  "           0][1]\n"
                                  "class Ж:\n"
                                  "    def ё(self, deep):\n"
                                  "        if deep:\n\n\n"
                                  "            return max([deep - 1], key=lambda n: é(n))\n"
                                  "        global said, known\n"
                                  "        said, known = walk(), list(chain(getframe()))\n"
                                  "        return 0\n"
                                  "def é(deep):\n"
                                  "    for _ in range(1): result = next(generator(deep))\n"
                                  "    return result\n"
                                  "é(4)\n"
                                  "count = 20\n"
                                  "right = len(said) >= count and said[:count] == known[:count]\n";

struct listing {
    struct dftrace_walk walk;
    PyObject *list;
};

static int can_read(struct dftrace_walk *walk, const void *at, size_t bytes)
{
    uintptr_t last = (uintptr_t)at + bytes - 1;

    (void)walk;
    for (uintptr_t page = (uintptr_t)at & ~(uintptr_t)4095; page <= last; page += 4096)
        if (!page || (syscall(SYS_rt_sigprocmask, -1, page, 0, 8) < 0 && errno == EFAULT))
            return 0;
    return 1;
}

static int list_frame(struct dftrace_walk *walk, const char *text, size_t length)
{
    PyObject *list = ((struct listing *)walk)->list, *line = PyUnicode_FromStringAndSize(text, (Py_ssize_t)length);
    int rc = line ? PyList_Append(list, line) : -1;

    Py_XDECREF(line);
    return !rc;
}

static void list_end(struct dftrace_walk *walk)
{
    (void)walk;
}

static PyObject *list_frames(PyObject *self, PyObject *unused)
{
    struct listing listing = {{sizeof listing.walk, can_read, list_frame, list_end}, PyList_New(0)};

    (void)self;
    (void)unused;
    if (listing.list)
        walk_frames(&listing.walk);
    if (PyErr_Occurred())
        Py_CLEAR(listing.list);
    return listing.list;
}

/* Runs the test. Returns nonzero: all frames were right. Errors of Python stay. */
static int test(PyObject *globals)
{
    static PyMethodDef method = {"walk", list_frames, METH_NOARGS, NULL};
    PyObject *walk = PyCFunction_New(&method, NULL), *code = NULL, *result = NULL, *right = NULL;

    if (walk && !PyDict_SetItemString(globals, "walk", walk) &&
        !PyDict_SetItemString(globals, "getframe", PySys_GetObject("_getframe")) &&
        !PyDict_SetItemString(globals, "__builtins__", PyEval_GetBuiltins()) &&
        (code = Py_CompileString(test_source, "<\xf0\x9d\x84\x9e>", Py_file_input)) &&
        (result = PyEval_EvalCode(code, globals, globals)))
        right = PyDict_GetItemString(globals, "right");
    Py_XDECREF(walk);
    Py_XDECREF(code);
    Py_XDECREF(result);
    return right == Py_True;
}

/* Asks with the calling thread's frames. No error of Python is left behind. */
static int is_right(void)
{
    PyObject *globals = PyDict_New(), *code = globals ? Py_CompileString("0", "", Py_eval_input) : NULL;
    int right = 0;

    if (code) {
        type_of_code = Py_TYPE(code); /* one of the interpreter's own: it stays */
        right = test(globals);
    }
    if (globals)
        PyDict_Clear(globals);
    Py_XDECREF(code);
    Py_XDECREF(globals);
    PyErr_Clear();
    return right;
}

/* --- the start -------------------------------------------------------------------------------- */

#ifdef Py_GIL_DISABLED
enum { FREE_THREADED = 1 };
#else
enum { FREE_THREADED = 0 };
#endif

static const char *find_layout(void)
{
    const char *version = Py_GetVersion();
    int minor = 0;

    if (version[0] == '3' && version[1] == '.')
        for (version += 2; *version >= '0' && *version <= '9' && minor < 1000; version++)
            minor = 10 * minor + (*version - '0');
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (layouts[i].minor == minor)
            layout = &layouts[i];
    *(void **)&is_finalizing = dlsym(RTLD_DEFAULT, minor < 13 ? "_Py_IsFinalizing" : "Py_IsFinalizing");
    line_of = minor == 9 ? core_line_3_9 : minor == 10 ? core_line_3_10 : core_line_3_11;
    if (FREE_THREADED)
        return "frames of free-threaded builds of Python are not known";
    return sizeof(void *) == 8 && layout && is_finalizing ? NULL : "frames are known of CPython 3.9 to 3.13";
}

static void find_own_folder(void)
{
    const char *end;
    Dl_info info;

    if (!dladdr(own_folder, &info) || !info.dli_fname || !(end = strrchr(info.dli_fname, '/')))
        return;
    own_length = (size_t)(end + 1 - info.dli_fname);
    if (own_length > sizeof own_folder)
        own_length = 0;
    memcpy(own_folder, info.dli_fname, own_length);
}

static void find_loop(struct dftrace_frames *frames)
{
    const ElfW(Sym) *symbol = NULL;
    Dl_info info;

    frames->loop = dlsym(RTLD_DEFAULT, "_PyEval_EvalFrameDefault");
    if (frames->loop && dladdr1(frames->loop, &info, (void **)&symbol, RTLD_DL_SYMENT) && symbol)
        frames->loop_bytes = symbol->st_size;
}

void core_frames_start(const struct dftrace_api *api)
{
    static struct dftrace_frames frames = {.size = sizeof frames, .walk = walk_frames};
    const char *trouble;

    if (frames.loop || api->size <= offsetof(struct dftrace_api, set_frames) || !api->set_frames(NULL))
        return;
    trouble = find_layout();
    if (!trouble && !is_right())
        trouble = "frames of this build of Python are not as expected";
    if (trouble) {
        api->metadata("python_lines_missing", trouble);
        return;
    }
    find_own_folder();
    find_loop(&frames);
    api->set_frames(&frames);
}
