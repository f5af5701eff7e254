/* SPDX-License-Identifier: MIT */
/* Regions, and in C++ spans, that end with the scope or the object that they are in. Included by
 * dftrace.h. */
#ifndef DFTRACE_SCOPE_H
#define DFTRACE_SCOPE_H

#include <dftrace/dftrace.h>

/* A region to the end of the enclosing scope, however it is left. */
#define DFTRACE_PASTE__(a, b) a##b
#define DFTRACE_PASTE_(a, b)  DFTRACE_PASTE__(a, b)
#define DFTRACE_REGION(name)  DFTRACE_REGION_CAT(0, name)

#ifdef __cplusplus
namespace dftrace
{
class region
{
    struct dftrace_site *site_;

  public:
    explicit region(struct dftrace_site *site) : site_(site)
    {
        DFTRACE_API_;

        if (dftrace_api_)
            dftrace_api_->region_begin(site_);
    }
    ~region()
    {
        DFTRACE_API_;

        if (dftrace_api_)
            dftrace_api_->region_end(site_);
    }
    region(const region &) = delete;
    region &operator=(const region &) = delete;
};

/* A span as long as the object, which may move from thread to thread (a member of a coroutine's
 * promise, a captured value). */
class span
{
    struct dftrace_span span_;

  public:
    span() : span_() {}
    explicit span(const char *name, const char *category = nullptr, const span *parent = nullptr) : span_()
    {
        struct dftrace_site site = {category, name, 0};
        DFTRACE_API_;

        if (DFTRACE_HAS_(span_begin))
            dftrace_api_->span_begin(&span_, &site, parent ? &parent->span_ : nullptr, nullptr, 0);
    }
    span(span &&other) noexcept : span_(other.span_)
    {
        other.span_ = dftrace_span();
    }
    span &operator=(span &&other) noexcept
    {
        if (this != &other) {
            end();
            span_ = other.span_;
            other.span_ = dftrace_span();
        }
        return *this;
    }
    span(const span &) = delete;
    span &operator=(const span &) = delete;
    ~span()
    {
        end();
    }
    void end()
    {
        if (span_.id)
            DFTRACE_SPAN_END(&span_);
        span_ = dftrace_span();
    }
    void resume() const
    {
        DFTRACE_SPAN_RESUME(&span_);
    }
    void suspend() const
    {
        DFTRACE_SPAN_SUSPEND(&span_);
    }
    uint64_t id() const
    {
        return span_.id;
    }
};

/* An argument of any type: numbers with a point, texts; all else is an integer. */
inline struct dftrace_arg make_arg(const char *key, double value)
{
    return dftrace_double(key, value);
}
inline struct dftrace_arg make_arg(const char *key, float value)
{
    return dftrace_double(key, value);
}
inline struct dftrace_arg make_arg(const char *key, long double value)
{
    return dftrace_double(key, static_cast<double>(value));
}
inline struct dftrace_arg make_arg(const char *key, const char *value)
{
    return dftrace_string(key, value);
}
inline struct dftrace_arg make_arg(const char *key, char *value)
{
    return dftrace_string(key, value);
}
template <typename T> inline struct dftrace_arg make_arg(const char *key, T value)
{
    return dftrace_int(key, static_cast<int64_t>(value));
}

/* An argument of the innermost open region. */
template <typename T> inline void arg(const char *key, T value)
{
    const struct dftrace_arg made = make_arg(key, value);

    if (made.type == 0)
        DFTRACE_ARG_INT(key, made.value.integer);
    else if (made.type == 1)
        DFTRACE_ARG_DOUBLE(key, made.value.number);
    else
        DFTRACE_ARG_STRING(key, made.value.string);
}
} /* namespace dftrace */
#define DFTRACE_REGION_CAT(category_, name_)                                                                           \
    static struct dftrace_site DFTRACE_PASTE_(dftrace_site_, __LINE__) = {category_, name_, 0};                        \
    const dftrace::region DFTRACE_PASTE_(dftrace_region_, __LINE__)(&DFTRACE_PASTE_(dftrace_site_, __LINE__))
#else
static __inline__ struct dftrace_site *dftrace_scope_begin_(struct dftrace_site *site)
{
    DFTRACE_API_;

    if (dftrace_api_)
        dftrace_api_->region_begin(site);
    return site;
}

static __inline__ void dftrace_scope_end_(struct dftrace_site *const *site)
{
    DFTRACE_API_;

    if (dftrace_api_)
        dftrace_api_->region_end(*site);
}
#define DFTRACE_REGION_CAT(category_, name_)                                                                           \
    static struct dftrace_site DFTRACE_PASTE_(dftrace_site_, __LINE__) = {category_, name_, 0};                        \
    struct dftrace_site *const DFTRACE_PASTE_(dftrace_region_, __LINE__)                                               \
        __attribute__((cleanup(dftrace_scope_end_), unused)) =                                                         \
            dftrace_scope_begin_(&DFTRACE_PASTE_(dftrace_site_, __LINE__))
#endif

#endif
