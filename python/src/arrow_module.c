/* SPDX-License-Identifier: MIT */
/* dftrace._arrow: class Table, rows as columns in C, for Python and for readers of the Arrow C data
 * interface. */
#include "arrow_module.h"

#include <string.h>

struct object {
    PyObject_HEAD struct table *table;
    PyObject *rest; /* bytes: the begin of a line whose end is not there yet */
    size_t wrong;
};

static PyTypeObject *table_type;

static PyObject *fail(void)
{
    return PyErr_Format(PyExc_MemoryError, "out of memory, or texts of more than 2 GiB in one batch");
}

/* A table that failed has columns of other lengths. */
struct table *arrow_table_of(PyObject *object)
{
    struct table *table;

    if (Py_TYPE(object) != table_type) {
        PyErr_SetString(PyExc_TypeError, "a Table is wanted");
        return NULL;
    }
    table = ((struct object *)object)->table;
    if (!table)
        PyErr_SetString(PyExc_ValueError, "the table was handed on already");
    else if (table->failed)
        fail();
    return table && !table->failed ? table : NULL;
}

void arrow_table_taken(PyObject *object)
{
    struct object *self = (struct object *)object;

    arrow_table_free(self->table);
    self->table = NULL;
}

static bool init_columns(struct table *table, PyObject *columns)
{
    for (size_t i = 0; i < table->count; i++) {
        PyObject *pair = PySequence_GetItem(columns, (Py_ssize_t)i);
        const char *name = NULL, *type = NULL;
        bool fine = pair && PyTuple_Check(pair) && PyArg_ParseTuple(pair, "ss", &name, &type);

        if (fine && (!type[0] || type[1] || !strchr("iftsw", type[0]))) {
            PyErr_Format(PyExc_ValueError, "no type of columns: %s", type);
            fine = false;
        }
        if (fine && !arrow_column_init(&table->columns[i], name, strlen(name), (enum arrow_type)type[0])) {
            PyErr_NoMemory();
            fine = false;
        }
        Py_XDECREF(pair);
        if (!fine) {
            if (!PyErr_Occurred())
                PyErr_SetString(PyExc_TypeError, "a column is (name, type)");
            return false;
        }
    }
    return true;
}

static PyObject *table_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *columns;
    struct object *self;
    Py_ssize_t count;

    if (kwargs && PyDict_Size(kwargs)) {
        PyErr_SetString(PyExc_TypeError, "Table takes no keywords");
        return NULL;
    }
    if (!PyArg_ParseTuple(args, "O", &columns))
        return NULL;
    count = PySequence_Size(columns);
    if (count < 0)
        return NULL;
    self = (struct object *)PyType_GenericAlloc(type, 0);
    if (!self)
        return NULL;
    self->table = arrow_table_new((size_t)count);
    if (!self->table)
        PyErr_NoMemory();
    if (!self->table || !init_columns(self->table, columns)) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

static void table_dealloc(PyObject *object)
{
    struct object *self = (struct object *)object;
    PyTypeObject *type = Py_TYPE(object);

    arrow_table_free(self->table);
    Py_XDECREF(self->rest);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyObject *outcome(struct table *table)
{
    if (table->failed)
        return fail();
    Py_RETURN_NONE;
}

static PyObject *table_feed(PyObject *object, PyObject *bytes)
{
    struct object *self = (struct object *)object;
    struct table *table = arrow_table_of(object);
    char *text;
    Py_ssize_t length;
    size_t used;

    if (!table)
        return NULL;
    if (!PyBytes_Check(bytes))
        return PyErr_Format(PyExc_TypeError, "bytes are wanted");
    Py_INCREF(bytes);
    if (self->rest) {
        PyBytes_ConcatAndDel(&self->rest, bytes);
        bytes = self->rest;
        self->rest = NULL;
    }
    if (!bytes || PyBytes_AsStringAndSize(bytes, &text, &length)) {
        Py_XDECREF(bytes);
        return NULL;
    }
    used = arrow_read_lines(table, text, (size_t)length, &self->wrong);
    if (used < (size_t)length)
        self->rest = PyBytes_FromStringAndSize(text + used, length - (Py_ssize_t)used);
    Py_DECREF(bytes);
    if (used < (size_t)length && !self->rest)
        return NULL;
    return outcome(table);
}

static bool append_text(struct table *table, struct column *column, PyObject *value)
{
    PyObject *bytes = PyUnicode_AsEncodedString(value, "utf-8", "surrogatepass");
    char *text;
    Py_ssize_t length;

    if (!bytes || PyBytes_AsStringAndSize(bytes, &text, &length)) {
        Py_XDECREF(bytes);
        return false;
    }
    for (Py_ssize_t i = 0; i + 1 < length; i++)
        if ((unsigned char)text[i] == 0xED && (unsigned char)text[i + 1] >= 0xA0)
            column->texts.surrogates = true;
    arrow_put_text(table, column, text, (size_t)length);
    Py_DECREF(bytes);
    return true;
}

static bool append_value(struct table *table, struct column *column, PyObject *value)
{
    if (value == Py_None)
        return true;
    if (PyUnicode_Check(value))
        return append_text(table, column, value);
    if (PyFloat_Check(value))
        arrow_put_float(table, column, PyFloat_AsDouble(value));
    else
        arrow_put_int(table, column, (int64_t)PyLong_AsUnsignedLongLongMask(value));
    return !PyErr_Occurred();
}

static PyObject *table_append(PyObject *object, PyObject *row)
{
    struct table *table = arrow_table_of(object);
    bool fine = true;

    if (!table)
        return NULL;
    if (PySequence_Size(row) != (Py_ssize_t)table->count)
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_ValueError, "a row has %zu values", table->count);
    for (size_t i = 0; fine && i < table->count; i++) {
        PyObject *value = PySequence_GetItem(row, (Py_ssize_t)i);

        fine = value && append_value(table, &table->columns[i], value);
        Py_XDECREF(value);
    }
    arrow_end_row(table);
    return fine ? outcome(table) : NULL;
}

static PyObject *value_at(const struct column *column, size_t row)
{
    size_t length;
    const char *text;

    if (arrow_is_null(column, row))
        Py_RETURN_NONE;
    switch (column->type) {
    case TYPE_FLOAT:
        return PyFloat_FromDouble(arrow_float(column, row));
    case TYPE_TEXT:
    case TYPE_WORD:
        text = arrow_text(column, row, &length);
        return PyUnicode_DecodeUTF8(text, (Py_ssize_t)length, "surrogatepass");
    default:
        return PyLong_FromLongLong(arrow_int(column, row));
    }
}

static PyObject *row_at(const struct table *table, size_t row)
{
    PyObject *values = PyTuple_New((Py_ssize_t)table->count);

    for (size_t i = 0; values && i < table->count; i++) {
        PyObject *value = value_at(&table->columns[i], row);

        if (!value || PyTuple_SetItem(values, (Py_ssize_t)i, value))
            Py_CLEAR(values);
    }
    return values;
}

static PyObject *table_rows(PyObject *object, PyObject *unused)
{
    const struct table *table = arrow_table_of(object);
    PyObject *rows = table ? PyList_New((Py_ssize_t)table->rows) : NULL;

    (void)unused;
    for (size_t i = 0; rows && i < table->rows; i++) {
        PyObject *row = row_at(table, i);

        if (!row || PyList_SetItem(rows, (Py_ssize_t)i, row))
            Py_CLEAR(rows);
    }
    return rows;
}

static Py_ssize_t table_length(PyObject *object)
{
    const struct table *table = arrow_table_of(object);

    return table ? (Py_ssize_t)table->rows : -1;
}

/* A new table with the same columns takes the unfinished line over. */
static PyObject *table_next(PyObject *object, PyObject *unused)
{
    struct object *self = (struct object *)object, *next;
    const struct table *table = arrow_table_of(object);

    (void)unused;
    if (!table)
        return NULL;
    next = (struct object *)PyType_GenericAlloc(table_type, 0);
    if (!next)
        return NULL;
    next->table = arrow_table_like(table);
    if (!next->table) {
        Py_DECREF(next);
        return PyErr_NoMemory();
    }
    next->rest = self->rest;
    self->rest = NULL;
    return (PyObject *)next;
}

static PyObject *table_stream(PyObject *object, PyObject *tables)
{
    const struct table *table = arrow_table_of(object);

    return table ? arrow_stream_new(table, tables) : NULL;
}

static PyObject *table_schema(PyObject *object, PyObject *unused)
{
    const struct table *table = arrow_table_of(object);

    (void)unused;
    return table ? arrow_schema_new(table) : NULL;
}

static PyObject *table_size(PyObject *object, PyObject *unused)
{
    const struct table *table = arrow_table_of(object);

    (void)unused;
    return table ? PyLong_FromSize_t(arrow_table_bytes(table)) : NULL;
}

/* Lines that were no JSON object, and the unfinished one that the text ended in. */
static PyObject *table_wrong(PyObject *object, PyObject *unused)
{
    const struct object *self = (struct object *)object;

    (void)unused;
    return PyLong_FromSize_t(self->wrong + (self->rest != NULL));
}

static PyMethodDef methods[] = {
    {"feed", table_feed, METH_O, "feed(bytes): adds a row for each line, an object of JSON"},
    {"append", table_append, METH_O, "append(values): adds a row"},
    {"rows", table_rows, METH_NOARGS, "rows() -> list of tuples"},
    {"next", table_next, METH_NOARGS,
     "next() -> an empty Table of the same columns, which takes an unfinished line over"},
    {"stream", table_stream, METH_O, "stream(tables) -> capsule arrow_array_stream of tables like this one"},
    {"schema", table_schema, METH_NOARGS, "schema() -> capsule arrow_schema"},
    {"size", table_size, METH_NOARGS, "size() -> bytes that the values take"},
    {"wrong", table_wrong, METH_NOARGS, "wrong() -> how many lines could not be read"},
    {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {{Py_tp_new, table_new},
                              {Py_tp_dealloc, table_dealloc},
                              {Py_tp_methods, methods},
                              {Py_sq_length, table_length},
                              {Py_tp_doc, "Table(((name, type), ...)): rows as columns; types i, f, t (ns), s, w"},
                              {0, NULL}};
static PyType_Spec spec = {
    .name = "dftrace._arrow.Table", .basicsize = sizeof(struct object), .flags = Py_TPFLAGS_DEFAULT, .slots = slots};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "dftrace._arrow", .m_size = -1};

PyMODINIT_FUNC PyInit__arrow(void);
PyMODINIT_FUNC PyInit__arrow(void)
{
    PyObject *module = PyModule_Create(&definition), *type;

    if (!module)
        return NULL;
    type = PyType_FromSpec(&spec);
    if (!type || PyModule_AddObject(module, "Table", type)) {
        Py_XDECREF(type);
        Py_DECREF(module);
        return NULL;
    }
    Py_INCREF(type);
    table_type = (PyTypeObject *)type;
    return module;
}
