/* SPDX-License-Identifier: MIT */
/* Times in logs. */
#include "spans/log_time.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SECOND      INT64_C(1000000000)
#define SECONDS_MAX INT64_C(9000000000)
#define DAY         86400

/* +02:00, -0530. Returns how many bytes it takes; 0: it is none. */
static size_t parse_offset(const char *text, size_t length, int *seconds)
{
    size_t colon = length > 3 && text[3] == ':', n = 5 + colon;
    int hours, minutes;

    if (length < n || (text[0] != '+' && text[0] != '-'))
        return 0;
    for (size_t i = 1; i < n; i++)
        if (!isdigit((unsigned char)text[i]) && !(colon && i == 3))
            return 0;
    hours = (text[1] - '0') * 10 + text[2] - '0';
    minutes = (text[3 + colon] - '0') * 10 + text[4 + colon] - '0';
    *seconds = (hours * 60 + minutes) * 60 * (text[0] == '-' ? -1 : 1);
    return hours < 24 && minutes < 60 ? n : 0;
}

/* POSIX writes offsets with the other sign. */
static int set_offset(int seconds)
{
    char zone[32];
    int minutes = abs(seconds) / 60;

    snprintf(zone, sizeof zone, "<zone>%s%02d:%02d", seconds > 0 ? "-" : "+", minutes / 60, minutes % 60);
    return setenv("TZ", zone, 1) ? -errno : 0;
}

int dft_log_time_zone(const char *zone)
{
    const char *folder = getenv("TZDIR");
    char path[512];
    int seconds, rc = 0;

    if (!zone) {
        tzset();
        return 0;
    }
    if (*zone && parse_offset(zone, strlen(zone), &seconds) == strlen(zone)) {
        rc = set_offset(seconds);
    } else if (!strcmp(zone, "UTC")) {
        rc = setenv("TZ", "UTC0", 1) ? -errno : 0;
    } else {
        snprintf(path, sizeof path, "%s/%s", folder ? folder : "/usr/share/zoneinfo", zone);
        if (!*zone || *zone == '/' || strstr(zone, "..") || access(path, R_OK))
            return -EINVAL;
        rc = setenv("TZ", zone, 1) ? -errno : 0;
    }
    tzset();
    return rc;
}

/* How far the zone is from UTC at a time. */
static long offset_at(time_t time, struct tm *local)
{
    return localtime_r(&time, local) ? local->tm_gmtoff : 0;
}

/* Seconds of a local time that reads as `utc` would in UTC. A time that comes twice is the first; one
 * that is left out is counted on from before. */
static int64_t from_local(int64_t utc)
{
    struct tm local;
    long before = offset_at((time_t)(utc - DAY), &local), after = offset_at((time_t)(utc + DAY), &local);

    if (before != after && offset_at((time_t)(utc - before), &local) != before &&
        offset_at((time_t)(utc - after), &local) == after)
        return utc - after;
    return utc - before;
}

/* The zone is queried once for each quarter of an hour: it changes at none but full quarters. */
static int64_t from_local_cached(int64_t utc)
{
    static _Thread_local int64_t quarter = INT64_MIN, difference;
    int64_t now = utc / 900;

    if (now != quarter) {
        difference = from_local(now * 900) - now * 900;
        quarter = now;
    }
    return utc + difference;
}

/* Digits of a fraction as ns. Digits behind the ninth are left out. Returns how many there are. */
static size_t parse_fraction(const char *text, size_t length, int64_t *ns)
{
    int64_t weight = SECOND / 10;
    size_t n = 0;

    *ns = 0;
    for (; n < length && isdigit((unsigned char)text[n]); n++, weight /= 10)
        *ns += (text[n] - '0') * weight;
    return n;
}

static int number(const char *text, size_t digits)
{
    int value = 0;

    for (size_t i = 0; i < digits; i++)
        value = value * 10 + text[i] - '0';
    return value;
}

static size_t parse_iso(const char *text, size_t length, int64_t *ns)
{
    static const char form[] = "0000-00-00 00:00:00";
    struct tm tm = {0};
    int64_t seconds, fraction = 0;
    size_t n = sizeof form - 1, offset_length;
    int offset = 0;

    if (length < n)
        return 0;
    for (size_t i = 0; i < n; i++)
        if (form[i] == '0' ? !isdigit((unsigned char)text[i]) : text[i] != form[i] && !(i == 10 && text[i] == 'T'))
            return 0;
    tm.tm_year = number(text, 4) - 1900;
    tm.tm_mon = number(text + 5, 2) - 1;
    tm.tm_mday = number(text + 8, 2);
    tm.tm_hour = number(text + 11, 2);
    tm.tm_min = number(text + 14, 2);
    tm.tm_sec = number(text + 17, 2);
    if (tm.tm_year < 0 || tm.tm_year > 300 || tm.tm_mon < 0 || tm.tm_mon > 11 || tm.tm_mday < 1 || tm.tm_mday > 31 ||
        tm.tm_hour > 23 || tm.tm_min > 59 || tm.tm_sec > 60)
        return 0;
    seconds = timegm(&tm);
    if (n + 1 < length && (text[n] == '.' || text[n] == ',') && isdigit((unsigned char)text[n + 1]))
        n += 1 + parse_fraction(text + n + 1, length - n - 1, &fraction);
    offset_length = n < length && text[n] == 'Z' ? 1 : parse_offset(text + n, length - n, &offset);
    *ns = (offset_length ? seconds - offset : from_local_cached(seconds)) * SECOND + fraction;
    return n + offset_length;
}

size_t dft_log_time_parse(const char *text, size_t length, int64_t *ns)
{
    size_t n = 0;
    int64_t seconds = 0, fraction = 0;

    while (n < length && n < 11 && isdigit((unsigned char)text[n]))
        seconds = seconds * 10 + text[n++] - '0';
    if (n == 4 && n < length && text[n] == '-')
        return parse_iso(text, length, ns);
    if (!n || seconds > SECONDS_MAX)
        return 0;
    if (n + 1 < length && text[n] == '.' && isdigit((unsigned char)text[n + 1]))
        n += 1 + parse_fraction(text + n + 1, length - n - 1, &fraction);
    if (n < length && (isalnum((unsigned char)text[n]) || text[n] == '.'))
        return 0;
    *ns = seconds * SECOND + fraction;
    return n;
}

char *dft_log_time_text(char text[DFT_LOG_TIME_ROOM], int64_t ns)
{
    uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
    int n =
        snprintf(text, DFT_LOG_TIME_ROOM, "%s%llu", ns < 0 ? "-" : "", (unsigned long long)(size / (uint64_t)SECOND));

    if (size % (uint64_t)SECOND) {
        n +=
            snprintf(text + n, DFT_LOG_TIME_ROOM - (size_t)n, ".%09llu", (unsigned long long)(size % (uint64_t)SECOND));
        while (text[n - 1] == '0')
            text[--n] = '\0';
    }
    return text;
}
