/* SPDX-License-Identifier: MIT */
/* Owns how Python values become texts and arguments of events. Whatever the value is, there is a
 * text for it: no error of a str() gets out. */
#include "core.h"

#include <string.h>

#define TEXT_MOST 4096 /* characters: a trace keeps as many bytes */

/* The error is dropped, unless the program must see it. Returns 0, or -1. */
static int drop_error(void)
{
    if (!PyErr_ExceptionMatches(PyExc_Exception))
        return -1;
    PyErr_Clear();
    return 0;
}

/* Steals `text`, a str or NULL with an exception. */
static const char *text_of(PyObject *text, PyObject **held)
{
    const char *utf8 = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    PyObject *bytes;

    if (utf8) {
        *held = text;
        return utf8;
    }
    if (drop_error() < 0) {
        Py_XDECREF(text);
        return NULL;
    }
    bytes = text ? PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace") : PyBytes_FromString("?");
    Py_XDECREF(text);
    *held = bytes;
    return bytes ? PyBytes_AsString(bytes) : NULL;
}

/* The str() of another object; of bytes what the interpreter prints, since their str() may warn. */
static PyObject *str_of(PyObject *value)
{
    PyObject *text = PyBytes_Check(value) ? PyObject_Repr(value) : PyObject_Str(value);

    if (text || drop_error() < 0)
        return text;
    if (PyLong_Check(value)) /* an integer that is too long for a str() */
        return PyNumber_ToBase(value, 16);
    return PyUnicode_FromFormat("%R", (PyObject *)Py_TYPE(value));
}

const char *core_text(PyObject *value, PyObject **held)
{
    PyObject *text, *part;

    *held = NULL;
    if (PyUnicode_Check(value)) {
        Py_INCREF(value);
        text = value;
    } else {
        text = str_of(value);
    }
    if (text && PyUnicode_GetLength(text) > TEXT_MOST) {
        part = PyUnicode_Substring(text, 0, TEXT_MOST);
        Py_DECREF(text);
        text = part;
    }
    if (!text && PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception))
        return NULL;
    return text_of(text, held);
}

void core_args_init(struct core_args *args)
{
    args->count = 0;
    args->room = CORE_FEW_ARGS;
    args->items = args->few;
    args->held = args->few_held;
}

static int grow(struct core_args *args)
{
    uint32_t room = args->room * 4;
    struct dftrace_arg *items = PyMem_Malloc(room * sizeof *items);
    PyObject **held = PyMem_Malloc(2 * room * sizeof *held);

    if (!items || !held) {
        PyMem_Free(items);
        PyMem_Free(held);
        PyErr_NoMemory();
        return -1;
    }
    memcpy(items, args->items, args->count * sizeof *items);
    memcpy(held, args->held, 2 * args->count * sizeof *held);
    if (args->items != args->few) {
        PyMem_Free(args->items);
        PyMem_Free(args->held);
    }
    args->items = items;
    args->held = held;
    args->room = room;
    return 0;
}

/* Returns 1 when it is in 64 bits, 0 when not, -1 with an exception. */
static int set_int(struct dftrace_arg *arg, PyObject *number)
{
    int overflow;
    long long value = PyLong_AsLongLongAndOverflow(number, &overflow);

    if (value == -1 && PyErr_Occurred())
        return drop_error();
    arg->value.integer = value;
    return !overflow;
}

/* A number of another library: what has an index is an integer; what has no dimension and is a
 * number is one, as NumPy's. */
static int set_foreign(struct dftrace_arg *arg, PyObject *value)
{
    PyObject *number, *dimensions;
    int is_scalar;

    if (PyIndex_Check(value)) {
        number = PyNumber_Index(value);
        if (number) {
            int done = set_int(arg, number);

            Py_DECREF(number);
            return done;
        }
        if (drop_error() < 0)
            return -1;
    }
    dimensions = PyObject_GetAttrString(value, "ndim");
    is_scalar = dimensions && PyLong_Check(dimensions) && PyLong_AsLong(dimensions) == 0;
    Py_XDECREF(dimensions);
    if (PyErr_Occurred() && drop_error() < 0)
        return -1;
    if (!is_scalar)
        return 0;
    arg->value.number = PyFloat_AsDouble(value);
    if (PyErr_Occurred())
        return drop_error();
    arg->type = 1;
    return 1;
}

/* Fills in a number. Returns 0: it is to be a text. */
static int set_number(struct dftrace_arg *arg, PyObject *value)
{
    if (PyLong_Check(value))
        return set_int(arg, value);
    if (PyFloat_Check(value)) {
        arg->type = 1;
        arg->value.number = PyFloat_AsDouble(value);
        return 1;
    }
    if (PyUnicode_Check(value) || PyBytes_Check(value) || value == Py_None)
        return 0;
    return set_foreign(arg, value);
}

int core_args_add(struct core_args *args, PyObject *key, PyObject *value)
{
    struct dftrace_arg arg = {0};
    PyObject *held[2] = {NULL, NULL};
    int done;

    if (args->count == args->room && grow(args) < 0)
        return -1;
    arg.key = core_text(key, &held[0]);
    if (!arg.key)
        return -1;
    done = set_number(&arg, value);
    if (done == 0) {
        arg.type = 2;
        arg.value.string = core_text(value, &held[1]);
        done = arg.value.string ? 1 : -1;
    }
    if (done < 0) {
        Py_DECREF(held[0]);
        return -1;
    }
    args->items[args->count] = arg;
    args->held[2 * args->count] = held[0];
    args->held[2 * args->count + 1] = held[1];
    args->count++;
    return 0;
}

static int add_pairs(struct core_args *args, PyObject *pairs)
{
    PyObject *iterator = PyObject_GetIter(pairs), *pair;

    while (iterator && (pair = PyIter_Next(iterator))) {
        PyObject *key = PySequence_GetItem(pair, 0), *value = key ? PySequence_GetItem(pair, 1) : NULL;
        int bad = !value || core_args_add(args, key, value) < 0;

        Py_XDECREF(key);
        Py_XDECREF(value);
        Py_DECREF(pair);
        if (bad)
            break;
    }
    Py_XDECREF(iterator);
    return PyErr_Occurred() ? -1 : 0;
}

int core_args_add_mapping(struct core_args *args, PyObject *mapping)
{
    PyObject *pairs;
    int done;

    if (!mapping || mapping == Py_None)
        return 0;
    pairs = PyMapping_Items(mapping);
    if (!pairs) {
        PyErr_Format(PyExc_TypeError, "args= needs a mapping of names to values, not %R", (PyObject *)Py_TYPE(mapping));
        return -1;
    }
    done = add_pairs(args, pairs);
    Py_DECREF(pairs);
    return done;
}

int core_args_add_call(struct core_args *args, PyObject *const *values, Py_ssize_t count, PyObject *names)
{
    Py_ssize_t named = names ? PyTuple_Size(names) : 0;

    if (count > 1) {
        PyErr_Format(PyExc_TypeError, "one mapping and keyword arguments are taken, not %zd positional ones", count);
        return -1;
    }
    if (count && core_args_add_mapping(args, values[0]) < 0)
        return -1;
    for (Py_ssize_t i = 0; i < named; i++)
        if (core_args_add(args, PyTuple_GetItem(names, i), values[count + i]) < 0)
            return -1;
    return 0;
}

int core_args_copy(struct core_args *to, const struct core_args *from)
{
    for (uint32_t i = 0; i < from->count; i++) {
        PyObject *key = from->held[2 * i], *text = from->held[2 * i + 1];

        if (to->count == to->room && grow(to) < 0)
            return -1;
        Py_XINCREF(key);
        Py_XINCREF(text);
        to->items[to->count] = from->items[i];
        to->held[2 * to->count] = key;
        to->held[2 * to->count + 1] = text;
        to->count++;
    }
    return 0;
}

void core_args_clear(struct core_args *args)
{
    for (uint32_t i = 0; i < 2 * args->count; i++)
        Py_XDECREF(args->held[i]);
    if (args->items != args->few) {
        PyMem_Free(args->items);
        PyMem_Free(args->held);
    }
    core_args_init(args);
}

#define FEW_KEYS 64u /* more are not looked through */

void core_args_settle(struct core_args *args)
{
    uint32_t count = 0, at;

    for (uint32_t i = 0; i < args->count && args->count <= FEW_KEYS; i++) {
        for (at = 0; at < count && strcmp(args->items[at].key, args->items[i].key) != 0; at++)
            ;
        for (uint32_t k = 0; k < 2 && at != i; k++) {
            if (at < count)
                Py_XDECREF(args->held[2 * at + k]);
            args->held[2 * at + k] = args->held[2 * i + k];
        }
        args->items[at] = args->items[i];
        count += at == count;
    }
    if (args->count <= FEW_KEYS)
        args->count = count;
}

int core_site_set(struct core_site *site, PyObject *category, PyObject *name)
{
    core_args_init(&site->args);
    site->site.category = core_text(category, &site->category);
    if (site->site.category)
        site->site.name = core_text(name, &site->name);
    return site->site.name ? 0 : -1;
}

void core_site_clear(struct core_site *site)
{
    core_args_clear(&site->args);
    Py_CLEAR(site->name);
    Py_CLEAR(site->category);
}
