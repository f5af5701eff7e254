/* SPDX-License-Identifier: MIT */
/* Owns dftrace.region: a name with arguments, as a context manager and as a decorator. It has no
 * state of a use, so that it may be used again, nested, and in several threads. */
#include "core.h"

PyObject *core_new(PyTypeObject *type)
{
    return PyType_GenericAlloc(type, 0);
}

PyObject *core_no_new(PyTypeObject *type, PyObject *Py_UNUSED(args), PyObject *Py_UNUSED(keywords))
{
    return PyErr_Format(PyExc_TypeError, "%R is not called by programs: use dftrace.region()", (PyObject *)type);
}

void core_free(PyObject *self, int collected)
{
    PyTypeObject *type = Py_TYPE(self);

    if (collected)
        PyObject_GC_Del(self);
    else
        PyObject_Free(self);
    Py_DECREF(type);
}

static struct core_region *region_new(PyObject *module)
{
    struct core_region *self = (struct core_region *)core_new(core_state(module)->region);

    if (!self)
        return NULL;
    core_args_init(&self->at.args);
    Py_INCREF(module);
    self->module = module;
    return self;
}

static void region_dealloc(PyObject *object)
{
    struct core_region *self = (struct core_region *)object;

    core_site_clear(&self->at);
    Py_XDECREF(self->module);
    Py_XDECREF(self->more);
    core_free(object, 0);
}

/* The region with a name of its own where it has none. A new reference. */
static struct core_region *named_region(struct core_region *self, PyObject *callable)
{
    struct core_region *named;
    PyObject *name;

    if (self->at.site.name) {
        Py_INCREF(self);
        return self;
    }
    name = PyObject_GetAttrString(callable, "__qualname__");
    if (!name) {
        PyErr_Clear();
        name = PyObject_Str((PyObject *)Py_TYPE(callable));
    }
    named = name ? region_new(self->module) : NULL;
    if (named &&
        (core_site_set(&named->at, self->at.category, name) < 0 || core_args_copy(&named->at.args, &self->at.args) < 0))
        Py_CLEAR(named);
    Py_XDECREF(name);
    return named;
}

static PyObject *decorate(struct core_region *self, PyObject *callable);

/* A static or class method: the same of the decorated function. */
static PyObject *decorate_within(struct core_region *self, PyObject *method)
{
    PyObject *function = PyObject_GetAttrString(method, "__func__");
    PyObject *decorated = function ? decorate(self, function) : NULL;
    PyObject *result = decorated ? PyObject_CallFunctionObjArgs((PyObject *)Py_TYPE(method), decorated, NULL) : NULL;

    Py_XDECREF(function);
    Py_XDECREF(decorated);
    return result;
}

static PyObject *decorate(struct core_region *self, PyObject *callable)
{
    struct core_region *named;
    PyObject *function;

    if (PyObject_HasAttrString(callable, "__func__") && !PyObject_HasAttrString(callable, "__self__"))
        return decorate_within(self, callable);
    if (!PyCallable_Check(callable)) {
        PyErr_Format(PyExc_TypeError, "dftrace.region decorates functions, not %R", (PyObject *)Py_TYPE(callable));
        return NULL;
    }
    if (PyType_Check(callable)) {
        PyErr_SetString(PyExc_TypeError, "dftrace.region decorates functions: decorate the methods of the class");
        return NULL;
    }
    named = named_region(self, callable);
    function = named ? core_function_make(named, callable) : NULL;
    Py_XDECREF(named);
    return function;
}

/* --- making ----------------------------------------------------------------------------------- */

/* A value whose text might cost much, or do something, is not converted while tracing is off. */
static int is_wanted(PyObject *value)
{
    return core_api()->enabled || PyLong_Check(value) || PyFloat_Check(value) || PyUnicode_Check(value);
}

static int add_keywords(struct core_region *self, PyObject *const *values, PyObject *names, PyObject **category)
{
    Py_ssize_t count = names ? PyTuple_Size(names) : 0;

    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *key = PyTuple_GetItem(names, i);

        if (PyUnicode_CompareWithASCIIString(key, "category") == 0)
            *category = values[i];
        else if (PyUnicode_CompareWithASCIIString(key, "args") == 0) {
            if (core_args_add_mapping(&self->at.args, values[i]) < 0)
                return -1;
        } else if (is_wanted(values[i]) && core_args_add(&self->at.args, key, values[i]) < 0)
            return -1;
    }
    return 0;
}

static int set_names(struct core_region *self, PyObject *category, PyObject *name)
{
    if (category != Py_None && !PyUnicode_Check(category)) {
        PyErr_Format(PyExc_TypeError, "category= needs a str, not %R", (PyObject *)Py_TYPE(category));
        return -1;
    }
    self->at.site.category =
        core_text(category == Py_None ? core_state(self->module)->app : category, &self->at.category);
    if (!self->at.site.category)
        return -1;
    if (!name || name == Py_None)
        return 0;
    self->at.site.name = core_text(name, &self->at.name);
    return self->at.site.name ? 0 : -1;
}

PyObject *core_region_call(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    PyObject *name = count ? args[0] : NULL, *category = Py_None, *function = NULL;
    int is_decorator = name && name != Py_None && !PyUnicode_Check(name);
    struct core_region *self;

    if (count > 1) {
        PyErr_Format(PyExc_TypeError,
                     "region() takes a name or a function and keyword arguments, not %zd positional ones", count);
        return NULL;
    }
    self = region_new(module);
    if (!self)
        return NULL;
    if (add_keywords(self, args + count, names, &category) < 0 ||
        set_names(self, category, is_decorator ? NULL : name) < 0) {
        Py_DECREF(self);
        return NULL;
    }
    if (!is_decorator)
        return (PyObject *)self;
    function = decorate(self, name);
    Py_DECREF(self);
    return function;
}

/* --- using ------------------------------------------------------------------------------------ */

static PyObject *region_enter(PyObject *object, PyObject *Py_UNUSED(none))
{
    struct core_region *self = (struct core_region *)object;
    const struct dftrace_api *api = core_api();

    if (!self->at.site.name) {
        PyErr_SetString(PyExc_TypeError, "dftrace.region() needs a name here: with dftrace.region(\"load\"):");
        return NULL;
    }
    if (api->enabled) {
        if (self->at.args.count)
            api->region_begin_args(&self->at.site, self->at.args.items, self->at.args.count);
        else
            api->region_begin(&self->at.site);
    }
    Py_INCREF(self);
    return object;
}

static int end_with_more(struct core_region *self, const struct dftrace_api *api)
{
    PyObject *type, *value, *trace;
    struct core_args args;
    int bad;

    PyErr_Fetch(&type, &value, &trace);
    core_args_init(&args);
    bad = core_args_add_mapping(&args, self->more) < 0;
    api->region_end_args(&self->at.site, args.items, args.count);
    core_args_clear(&args);
    if (!bad || type)
        PyErr_Restore(type, value, trace);
    return bad && !type ? -1 : 0;
}

int core_region_end(struct core_region *self, const struct dftrace_api *api)
{
    if (__builtin_expect(self->more != NULL, 0) && PyDict_Size(self->more) > 0)
        return end_with_more(self, api);
    api->region_end(&self->at.site);
    return 0;
}

static PyObject *region_exit(PyObject *object, PyObject *const *Py_UNUSED(args), Py_ssize_t Py_UNUSED(count))
{
    struct core_region *self = (struct core_region *)object;
    const struct dftrace_api *api = core_api();

    if (api->enabled && self->at.site.name && core_region_end(self, api) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *region_update(PyObject *object, PyObject *const *values, Py_ssize_t count, PyObject *names)
{
    struct core_region *self = (struct core_region *)object;
    const struct dftrace_api *api = core_api();
    struct core_args args;
    int bad;

    if (!api->enabled || !self->at.site.name)
        Py_RETURN_NONE;
    core_args_init(&args);
    bad = core_args_add_call(&args, values, count, names) < 0;
    for (uint32_t i = 0; !bad && i < args.count; i++)
        api->arg_of(&self->at.site, &args.items[i]);
    core_args_clear(&args);
    if (bad)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *region_call(PyObject *object, PyObject *args, PyObject *keywords)
{
    if (PyTuple_Size(args) != 1 || (keywords && PyDict_Size(keywords))) {
        PyErr_SetString(PyExc_TypeError, "a region decorates one function");
        return NULL;
    }
    return decorate((struct core_region *)object, PyTuple_GetItem(args, 0));
}

/* async with: by spans, in Python. */
static PyObject *by_life(PyObject *self, const char *function)
{
    PyObject *module = PyImport_ImportModule("dftrace._life"), *result;

    result = module ? PyObject_CallMethod(module, function, "O", self) : NULL;
    Py_XDECREF(module);
    return result;
}

static PyObject *region_aenter(PyObject *self, PyObject *Py_UNUSED(none))
{
    return by_life(self, "enter_async");
}

static PyObject *region_aexit(PyObject *self, PyObject *Py_UNUSED(args))
{
    return by_life(self, "exit_async");
}

static PyObject *region_repr(PyObject *object)
{
    struct core_region *self = (struct core_region *)object;

    return PyUnicode_FromFormat("<dftrace.region %s:%s>", self->at.site.category,
                                self->at.site.name ? self->at.site.name : "");
}

static PyObject *region_name(PyObject *object, void *Py_UNUSED(closure))
{
    struct core_region *self = (struct core_region *)object;

    if (!self->at.site.name)
        Py_RETURN_NONE;
    return PyUnicode_FromString(self->at.site.name);
}

static PyObject *region_category(PyObject *object, void *Py_UNUSED(closure))
{
    return PyUnicode_FromString(((struct core_region *)object)->at.site.category);
}

static PyObject *region_more(PyObject *object, void *Py_UNUSED(closure))
{
    PyObject *more = ((struct core_region *)object)->more;

    more = more ? more : Py_None;
    Py_INCREF(more);
    return more;
}

static int region_set_more(PyObject *object, PyObject *more, void *Py_UNUSED(closure))
{
    struct core_region *self = (struct core_region *)object;
    PyObject *before = self->more;

    if (!more || !PyDict_Check(more)) {
        PyErr_SetString(PyExc_TypeError, "_more needs a dict");
        return -1;
    }
    Py_INCREF(more);
    self->more = more;
    Py_XDECREF(before);
    return 0;
}

/* Its arguments as a new dict. */
static PyObject *region_args(PyObject *object, void *Py_UNUSED(closure))
{
    const struct core_args *args = &((struct core_region *)object)->at.args;
    PyObject *dict = PyDict_New();

    for (uint32_t i = 0; dict && i < args->count; i++) {
        const struct dftrace_arg *arg = &args->items[i];
        PyObject *value = arg->type == 0   ? PyLong_FromLongLong(arg->value.integer)
                          : arg->type == 1 ? PyFloat_FromDouble(arg->value.number)
                                           : PyUnicode_FromString(arg->value.string);

        if (!value || PyDict_SetItemString(dict, arg->key, value) < 0)
            Py_CLEAR(dict);
        Py_XDECREF(value);
    }
    return dict;
}

static PyObject *region_reduce(PyObject *self, PyObject *Py_UNUSED(none))
{
    return by_life(self, "reduce_region");
}

static PyMethodDef methods[] = {
    {"__reduce__", region_reduce, METH_NOARGS, NULL},
    {"__enter__", region_enter, METH_NOARGS, NULL},
    {"__exit__", CORE_CALL(region_exit), CORE_FAST, NULL},
    {"__aenter__", region_aenter, METH_NOARGS, NULL},
    {"__aexit__", region_aexit, METH_VARARGS, NULL},
    {"update", CORE_CALL(region_update), CORE_FAST | METH_KEYWORDS,
     "update(mapping=None, /, **args): arguments of this region, while it is open in the calling thread."},
    {NULL}};
static PyGetSetDef attributes[] = {{"name", region_name, NULL, "Its name; None: that of what it decorates.", NULL},
                                   {"category", region_category, NULL, "Its category.", NULL},
                                   {"args", region_args, NULL, "Its arguments.", NULL},
                                   {"_more", region_more, region_set_more, NULL, NULL},
                                   {NULL}};
static PyMemberDef members[] = {{"_off", T_BOOL, offsetof(struct core_region, off), 0, NULL}, {NULL}};
static PyType_Slot slots[] = {{Py_tp_dealloc, CORE_SLOT(region_dealloc)},
                              {Py_tp_new, CORE_SLOT(core_no_new)},
                              {Py_tp_call, CORE_SLOT(region_call)},
                              {Py_tp_repr, CORE_SLOT(region_repr)},
                              {Py_tp_methods, methods},
                              {Py_tp_members, members},
                              {Py_tp_getset, attributes},
                              {Py_tp_doc, "What dftrace.region(name, ...) returns."},
                              {0, NULL}};
PyType_Spec core_region_spec = {.name = "dftrace._core.Region",
                                .basicsize = sizeof(struct core_region),
                                .flags = Py_TPFLAGS_DEFAULT,
                                .slots = slots};
