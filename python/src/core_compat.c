/* SPDX-License-Identifier: MIT */
/* Owns what the modules of other tools' names, and entities, need: metadata with several arguments,
 * asynchronous events with numbers, a region that is not recorded after all, and the functions that
 * PerfFlowAspect's compiler calls. */
#include "core.h"

#include <dlfcn.h>

/* A site and its arguments from (category, name, mapping). Returns 0, or -1 with an exception. */
static int set_site(struct core_site *site, PyObject *category, PyObject *name, PyObject *mapping)
{
    core_args_init(&site->args);
    return core_site_set(site, category, name) < 0 || core_args_add_mapping(&site->args, mapping) < 0 ? -1 : 0;
}

static PyObject *done(struct core_site *site, int bad)
{
    core_site_clear(site);
    if (bad)
        return NULL;
    Py_RETURN_NONE;
}

/* metadata_args(category, name, args) */
static PyObject *metadata_args(PyObject *Py_UNUSED(module), PyObject *args)
{
    const struct dftrace_api *api = core_api();
    struct core_site site = {{NULL}};
    PyObject *category, *name, *mapping;
    int bad;

    if (!PyArg_ParseTuple(args, "OOO:metadata_args", &category, &name, &mapping))
        return NULL;
    if (!api->enabled)
        Py_RETURN_NONE;
    bad = set_site(&site, category, name, mapping) < 0;
    if (!bad)
        api->metadata_args(&site.site, site.args.items, site.args.count);
    return done(&site, bad);
}

/* (category, name, id, args=None) */
static PyObject *async_end_of(PyObject *args, int is_end)
{
    const struct dftrace_api *api = core_api();
    struct core_site site = {{NULL}};
    PyObject *category, *name, *mapping = NULL;
    unsigned long long id;
    int bad;

    if (!PyArg_ParseTuple(args, "OOK|O", &category, &name, &id, &mapping))
        return NULL;
    if (!api->enabled)
        Py_RETURN_NONE;
    bad = set_site(&site, category, name, mapping) < 0;
    if (!bad)
        (is_end ? api->async_end : api->async_begin)(&site.site, id, site.args.items, site.args.count);
    return done(&site, bad);
}

static PyObject *async_begin(PyObject *Py_UNUSED(module), PyObject *args)
{
    return async_end_of(args, 0);
}

static PyObject *async_end(PyObject *Py_UNUSED(module), PyObject *args)
{
    return async_end_of(args, 1);
}

/* drop(category, name): the innermost region, when it is this one, is closed and not recorded. An
 * older library records it. */
static PyObject *drop(PyObject *Py_UNUSED(module), PyObject *args)
{
    const struct dftrace_api *api = core_api();
    struct core_site site = {{NULL}};
    PyObject *category, *name;
    int bad;

    if (!PyArg_ParseTuple(args, "OO:drop", &category, &name))
        return NULL;
    if (!api->enabled)
        Py_RETURN_NONE;
    bad = set_site(&site, category, name, NULL) < 0;
    if (!bad)
        (CORE_HAS(api, region_drop) ? api->region_drop : api->region_end)(&site.site);
    return done(&site, bad);
}

/* weave(is_end, is_async, module, function, scope, pointcut) */
static PyObject *weave(PyObject *Py_UNUSED(module), PyObject *args)
{
    typedef void weaver(int, const char *, const char *, const char *, const char *, const char *);
    static weaver *before, *after;
    const char *of, *function, *scope, *pointcut;
    int is_end, is_async;

    if (!PyArg_ParseTuple(args, "iisszs:weave", &is_end, &is_async, &of, &function, &scope, &pointcut))
        return NULL;
    if (!core_api()->enabled)
        Py_RETURN_NONE;
    if (!before || !after) {
        *(void **)&before = dlsym(RTLD_DEFAULT, "perfflow_weave_before");
        *(void **)&after = dlsym(RTLD_DEFAULT, "perfflow_weave_after");
    }
    if (before && after)
        (is_end ? after : before)(is_async, of, function, scope, NULL, pointcut);
    Py_RETURN_NONE;
}

PyMethodDef core_compat_methods[] = {{"metadata_args", metadata_args, METH_VARARGS, NULL},
                                     {"async_begin", async_begin, METH_VARARGS, NULL},
                                     {"async_end", async_end, METH_VARARGS, NULL},
                                     {"drop", drop, METH_VARARGS, NULL},
                                     {"weave", weave, METH_VARARGS, NULL},
                                     {NULL}};
