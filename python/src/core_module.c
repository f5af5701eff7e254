/* SPDX-License-Identifier: MIT */
/* Owns the module dftrace._core: its functions, and what one interpreter has of it. */
#include "core.h"
#include "core_frames.h"

#include <stdlib.h>
#include <time.h>

static PyObject *none_or_error(int bad)
{
    if (bad)
        return NULL;
    Py_RETURN_NONE;
}

/* --- events by names -------------------------------------------------------------------------- */

/* (category, name, args=None), or without a category (name, /, **args). */
static int by_names(struct core_site *site, PyObject *args, const char *format)
{
    PyObject *category, *name, *mapping = NULL;

    if (!PyArg_ParseTuple(args, format, &category, &name, &mapping))
        return -1;
    return core_site_set(site, category, name) < 0 || core_args_add_mapping(&site->args, mapping) < 0 ? -1 : 0;
}

static PyObject *begin(PyObject *Py_UNUSED(module), PyObject *args)
{
    const struct dftrace_api *api = core_api();
    struct core_site site = {{NULL}};
    int bad;

    if (!api->enabled)
        Py_RETURN_NONE;
    core_args_init(&site.args);
    bad = by_names(&site, args, "OO|O:begin") < 0;
    if (!bad)
        api->region_begin_args(&site.site, site.args.items, site.args.count);
    core_site_clear(&site);
    return none_or_error(bad);
}

static PyObject *end(PyObject *Py_UNUSED(module), PyObject *args)
{
    const struct dftrace_api *api = core_api();
    struct core_site site = {{NULL}};
    int bad;

    if (!api->enabled)
        Py_RETURN_NONE;
    core_args_init(&site.args);
    bad = by_names(&site, args, "OO|O:end") < 0;
    if (!bad && site.args.count)
        api->region_end_args(&site.site, site.args.items, site.args.count);
    else if (!bad)
        api->region_end(&site.site);
    core_site_clear(&site);
    return none_or_error(bad);
}

static PyObject *instant(PyObject *module, PyObject *const *values, Py_ssize_t count, PyObject *names)
{
    const struct dftrace_api *api = core_api();
    struct core_site site = {{NULL}};
    int bad;

    if (count != 1) {
        PyErr_SetString(PyExc_TypeError, "instant() takes one name and keyword arguments");
        return NULL;
    }
    if (!api->enabled)
        Py_RETURN_NONE;
    core_args_init(&site.args);
    bad = core_site_set(&site, core_state(module)->app, values[0]) < 0 ||
          core_args_add_call(&site.args, values + 1, 0, names) < 0;
    if (!bad)
        api->instant_args(&site.site, site.args.items, site.args.count);
    core_site_clear(&site);
    return none_or_error(bad);
}

/* (category, name, start_ns, duration_ns, args=None): times as of time_ns(). */
static PyObject *event(PyObject *Py_UNUSED(module), PyObject *args)
{
    const struct dftrace_api *api = core_api();
    PyObject *category, *name, *mapping = NULL;
    struct core_site site = {{NULL}};
    long long start, duration;
    int bad;

    if (!PyArg_ParseTuple(args, "OOLL|O:event", &category, &name, &start, &duration, &mapping))
        return NULL;
    if (!api->enabled || !CORE_HAS(api, event))
        Py_RETURN_NONE;
    core_args_init(&site.args);
    bad = core_site_set(&site, category, name) < 0 || core_args_add_mapping(&site.args, mapping) < 0;
    if (!bad)
        api->event(&site.site, start > 0 ? (uint64_t)start : 0, duration > 0 ? (uint64_t)duration : 0, site.args.items,
                   site.args.count);
    core_site_clear(&site);
    return none_or_error(bad);
}

/* By the clock of the trace; where nothing is traced by the machine's. */
static PyObject *time_ns(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    const struct dftrace_api *api = core_api();
    struct timespec now;

    if (api->enabled && CORE_HAS(api, now))
        return PyLong_FromUnsignedLongLong(api->now());
    clock_gettime(CLOCK_REALTIME, &now);
    return PyLong_FromLongLong((long long)now.tv_sec * 1000000000 + now.tv_nsec);
}

/* --- values ----------------------------------------------------------------------------------- */

/* The double of an integer with this text; infinity where no double is so large. */
static double double_of(PyObject *integer, const char *text)
{
    double value = PyLong_AsDouble(integer);

    if (!PyErr_Occurred())
        return value;
    PyErr_Clear();
    return *text == '-' ? -Py_HUGE_VAL : Py_HUGE_VAL;
}

static PyObject *counter(PyObject *module, PyObject *args)
{
    const struct dftrace_api *api = core_api();
    struct core_site site = {{NULL}};
    PyObject *name, *value;
    int bad;

    if (!PyArg_ParseTuple(args, "OO:counter", &name, &value))
        return NULL;
    if (!api->enabled)
        Py_RETURN_NONE;
    core_args_init(&site.args);
    bad = core_site_set(&site, core_state(module)->app, name) < 0 || core_args_add(&site.args, name, value) < 0;
    if (!bad && site.args.items[0].type == 0)
        api->counter_int(&site.site, site.args.items[0].value.integer);
    else if (!bad && site.args.items[0].type == 1)
        api->counter_double(&site.site, site.args.items[0].value.number);
    else if (!bad && PyLong_Check(value))
        api->counter_double(&site.site, double_of(value, site.args.items[0].value.string));
    else if (!bad)
        bad = !PyErr_Format(PyExc_TypeError, "counter() needs a number, not %R", (PyObject *)Py_TYPE(value));
    core_site_clear(&site);
    return none_or_error(bad);
}

/* (key, value, scope=None) */
static PyObject *metadata(PyObject *Py_UNUSED(module), PyObject *args)
{
    const struct dftrace_api *api = core_api();
    PyObject *key, *value, *scope = Py_None, *held = NULL;
    const char *text = NULL;
    struct core_args one;
    int bad;

    if (!PyArg_ParseTuple(args, "OO|O:metadata", &key, &value, &scope))
        return NULL;
    if (!api->enabled)
        Py_RETURN_NONE;
    core_args_init(&one);
    bad = core_args_add(&one, key, value) < 0;
    if (!bad && scope != Py_None) {
        text = core_text(scope, &held);
        bad = !text;
    }
    if (!bad)
        api->metadata_arg(text, one.items);
    Py_XDECREF(held);
    core_args_clear(&one);
    return none_or_error(bad);
}

static PyObject *with_text(PyObject *text, void (*function)(const char *))
{
    PyObject *held;
    const char *utf8;

    if (!PyUnicode_Check(text)) {
        PyErr_Format(PyExc_TypeError, "a name needs a str, not %R", (PyObject *)Py_TYPE(text));
        return NULL;
    }
    utf8 = core_text(text, &held);
    if (!utf8)
        return NULL;
    function(utf8);
    Py_DECREF(held);
    Py_RETURN_NONE;
}

static PyObject *set_role(PyObject *Py_UNUSED(module), PyObject *name)
{
    const struct dftrace_api *api = core_api();

    if (!api->enabled)
        Py_RETURN_NONE;
    return with_text(name, api->set_role);
}

static PyObject *thread_name(PyObject *Py_UNUSED(module), PyObject *name)
{
    const struct dftrace_api *api = core_api();

    if (!api->enabled)
        Py_RETURN_NONE;
    return with_text(name, api->thread_name);
}

/* --- the module ------------------------------------------------------------------------------- */

static PyMethodDef core_methods[] = {{"region", CORE_CALL(core_region_call), CORE_FAST | METH_KEYWORDS, NULL},
                                     {"span", core_span_begin, METH_O, NULL},
                                     {"empty_function", core_function_empty, METH_O, NULL},
                                     {"begin", begin, METH_VARARGS, NULL},
                                     {"end", end, METH_VARARGS, NULL},
                                     {"event", event, METH_VARARGS, NULL},
                                     {"time_ns", time_ns, METH_NOARGS, NULL},
                                     {"instant", CORE_CALL(instant), CORE_FAST | METH_KEYWORDS, NULL},
                                     {"counter", counter, METH_VARARGS, NULL},
                                     {"metadata", metadata, METH_VARARGS, NULL},
                                     {"set_role", set_role, METH_O, NULL},
                                     {"thread_name", thread_name, METH_O, NULL},
                                     {NULL}};

static int add_type(PyObject *module, PyType_Spec *spec, const char *name, PyTypeObject **type)
{
    *type = (PyTypeObject *)PyType_FromSpec(spec);
    if (!*type)
        return -1;
    Py_INCREF(*type);
    if (PyModule_AddObject(module, name, (PyObject *)*type) == 0)
        return 0;
    Py_DECREF(*type);
    return -1;
}

static PyObject *from_module(const char *name, const char *attribute)
{
    PyObject *module = PyImport_ImportModule(name), *value;

    value = module ? PyObject_GetAttrString(module, attribute) : NULL;
    Py_XDECREF(module);
    return value;
}

static int module_exec(PyObject *module)
{
    struct core_state *state = core_state(module);
    PyObject *variable;

    core_cpython_find();
    core_api_find();
    core_frames_start(core_api());
    if (PyModule_AddFunctions(module, core_compat_methods) < 0 ||
        PyModule_AddFunctions(module, core_recording_methods) < 0 ||
        add_type(module, &core_region_spec, "Region", &state->region) < 0 ||
        add_type(module, &core_function_spec, "Function", &state->function) < 0 ||
        add_type(module, &core_span_spec, "Span", &state->span) < 0 ||
        add_type(module, &core_steps_spec, "Steps", &state->steps) < 0)
        return -1;
    state->app = PyUnicode_InternFromString("APP");
    state->method_type = from_module("types", "MethodType");
    variable = from_module("_contextvars", "ContextVar");
    state->current = variable ? PyObject_CallFunction(variable, "s", "dftrace.current") : NULL;
    Py_XDECREF(variable);
    if (!state->app || !state->method_type || !state->current)
        return -1;
    Py_INCREF(state->current);
    return PyModule_AddObject(module, "current", state->current);
}

static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
    struct core_state *state = core_state(module);

    Py_VISIT(state->region);
    Py_VISIT(state->function);
    Py_VISIT(state->span);
    Py_VISIT(state->steps);
    Py_VISIT(state->current);
    Py_VISIT(state->method_type);
    return 0;
}

static void module_free(void *module)
{
    struct core_state *state = core_state(module);

    if (!state)
        return;
    Py_CLEAR(state->region);
    Py_CLEAR(state->function);
    Py_CLEAR(state->span);
    Py_CLEAR(state->steps);
    Py_CLEAR(state->current);
    Py_CLEAR(state->method_type);
    Py_CLEAR(state->app);
}

/* Slots that only newer versions know: 3 says that interpreters with a lock of their own may have
 * the module (3.12), 4 that it needs no lock of the interpreter (3.13, free-threaded). */
static PyModuleDef_Slot slots[4] = {{Py_mod_exec, CORE_SLOT(module_exec)}};
static void fill_slots(void)
{
    int minor = atoi(Py_GetVersion() + 2), used = 1;

    if (minor >= 12)
        slots[used++] = (PyModuleDef_Slot){3, (void *)2};
#ifdef Py_GIL_DISABLED
    slots[used++] = (PyModuleDef_Slot){4, (void *)1};
#endif
    slots[used] = (PyModuleDef_Slot){0, NULL};
}

/* The state goes with the memory of the module: objects that outlive m_clear use it. */
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                                        .m_name = "dftrace._core",
                                        .m_doc = "Annotations of Python programs; use them through dftrace.",
                                        .m_size = sizeof(struct core_state),
                                        .m_methods = core_methods,
                                        .m_slots = slots,
                                        .m_traverse = module_traverse,
                                        .m_free = module_free};

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void)
{
    fill_slots();
    return PyModuleDef_Init(&definition);
}
