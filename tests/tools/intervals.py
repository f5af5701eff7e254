# SPDX-License-Identifier: MIT
"""Sets of intervals: sorted lists of [from, to) that do not touch."""


def union(spans):
    result = []
    for first, last in sorted(s for s in spans if s[1] > s[0]):
        if result and first <= result[-1][1]:
            result[-1][1] = max(result[-1][1], last)
        else:
            result.append([first, last])
    return result


def common(a, b):
    result, i, k = [], 0, 0
    while i < len(a) and k < len(b):
        first, last = max(a[i][0], b[k][0]), min(a[i][1], b[k][1])
        if first < last:
            result.append((first, last))
        if a[i][1] < b[k][1]:
            i += 1
        else:
            k += 1
    return union(result)


def less(a, b):
    result, k = [], 0
    for first, last in a:
        while k < len(b) and b[k][1] <= first:
            k += 1
        at = k
        while at < len(b) and b[at][0] < last:
            if b[at][0] > first:
                result.append((first, b[at][0]))
            first = max(first, b[at][1])
            at += 1
        if first < last:
            result.append((first, last))
    return union(result)


def length(spans):
    return sum(b - a for a, b in spans)
