/* SPDX-License-Identifier: MIT */
/* dftrace._arrow: class Table, rows as columns in C, for Python and for readers of the Arrow C data
 * interface. */
#include "arrow_module.h"

#include <errno.h>
#include <string.h>

struct object {
    PyObject_HEAD struct table *table;
};

static PyTypeObject *table_type;

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
    return table;
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

        if (fine && (!type[0] || type[1] || !strchr("iuftsw", type[0]))) {
            PyErr_Format(PyExc_ValueError, "no type of columns: %s", type);
            fine = false;
        }
        if (fine && !arrow_column_init(&table->columns[i], name, (enum arrow_type)type[0])) {
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

static bool read_frame(struct table *table, PyObject *frame)
{
    char *bytes = NULL;
    Py_ssize_t length = 0;
    int rc;

    if (!PyBytes_Check(frame)) {
        PyErr_SetString(PyExc_TypeError, "bytes are wanted");
        return false;
    }
    if (PyBytes_AsStringAndSize(frame, &bytes, &length))
        return false;
    rc = arrow_read_frame(table, bytes, (size_t)length);
    if (rc == EINVAL)
        PyErr_SetString(PyExc_ValueError, "the frame has other columns: is dftmerge of another version?");
    else if (rc)
        PyErr_NoMemory();
    return !rc;
}

static PyObject *table_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *columns, *frame;
    struct object *self;
    Py_ssize_t count;

    if (kwargs && PyDict_Size(kwargs)) {
        PyErr_SetString(PyExc_TypeError, "Table takes no keywords");
        return NULL;
    }
    if (!PyArg_ParseTuple(args, "OO", &columns, &frame))
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
    if (!self->table || !init_columns(self->table, columns) || !read_frame(self->table, frame)) {
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
    PyObject_Free(self);
    Py_DECREF(type);
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
    case TYPE_UNSIGNED:
        return PyLong_FromUnsignedLongLong((uint64_t)arrow_int(column, row));
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

static PyMethodDef methods[] = {
    {"rows", table_rows, METH_NOARGS, "rows() -> list of tuples"},
    {"stream", table_stream, METH_O, "stream(tables) -> capsule arrow_array_stream of tables like this one"},
    {"schema", table_schema, METH_NOARGS, "schema() -> capsule arrow_schema"},
    {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {
    {Py_tp_new, table_new},
    {Py_tp_dealloc, table_dealloc},
    {Py_tp_methods, methods},
    {Py_sq_length, table_length},
    {Py_tp_doc, "Table(((name, type), ...), frame): rows as columns; types i, u (unsigned), f, t (ns), s, w"},
    {0, NULL}};
static PyType_Spec spec = {
    .name = "dftrace._arrow.Table", .basicsize = sizeof(struct object), .flags = Py_TPFLAGS_DEFAULT, .slots = slots};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "dftrace._arrow", .m_size = -1};

/* Adds to a dict. Takes the dict and the value, of which either may be NULL; returns the dict, or NULL. */
static PyObject *with(PyObject *dict, const char *name, PyObject *value)
{
    if (dict && (!value || PyDict_SetItemString(dict, name, value)))
        Py_CLEAR(dict);
    Py_XDECREF(value);
    return dict;
}

/* Adds to the module. The value then lives as long as the program. */
static bool add(PyObject *module, const char *name, PyObject *value)
{
    if (!value)
        return false;
    Py_INCREF(value);
    if (!PyModule_AddObject(module, name, value))
        return true;
    Py_DECREF(value);
    return false;
}

#define DFT_TABLE(NAME, name, help)
#define DFT_TABLE_COLUMN(NAME, COLUMN, name, type, unit, help)
#define DFT_TABLE_END(NAME)

/* The columns that lines of events have, and their types. */
static PyObject *event_types(void)
{
    PyObject *dict = PyDict_New();

#define LETTER_TIME     "t"
#define LETTER_INTEGER  "i"
#define LETTER_UNSIGNED "u"
#define LETTER_TEXT     "w"
#define LETTER_OBJECT   "s"
#define DFT_EVENT_COLUMN(COLUMN, name, line, type, unit, absent, help)                                                 \
    dict = line[0] ? with(dict, line, PyUnicode_FromString(LETTER_##type)) : dict;
#include "tables/tables.def"
    return dict;
}

/* The values that say nothing: an object of `dftmerge dump --json` lacks them. */
static PyObject *absent_values(void)
{
    PyObject *dict = PyDict_New();

#define VALUE_NEVER dict
#define VALUE_NULL  dict
#define VALUE_ZERO  with(dict, name, PyLong_FromLong(0))
#define VALUE_ONE   with(dict, name, PyLong_FromLong(1))
#define DFT_EVENT_COLUMN(COLUMN, column, line, type, unit, absent, help)                                               \
    {                                                                                                                  \
        const char *name = line;                                                                                       \
                                                                                                                       \
        (void)name;                                                                                                    \
        dict = VALUE_##absent;                                                                                         \
    }
#include "tables/tables.def"
    return dict;
}

PyMODINIT_FUNC PyInit__arrow(void);
PyMODINIT_FUNC PyInit__arrow(void)
{
    PyObject *module = PyModule_Create(&definition);

    if (!module)
        return NULL;
    table_type = (PyTypeObject *)PyType_FromSpec(&spec);
    if (add(module, "Table", (PyObject *)table_type) && add(module, "EVENTS", event_types()) &&
        add(module, "ABSENT", absent_values()))
        return module;
    Py_DECREF(module);
    return NULL;
}
