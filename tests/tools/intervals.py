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
    return union([(max(x[0], y[0]), min(x[1], y[1])) for x in a for y in b if x[0] < y[1] and y[0] < x[1]])


def less(a, b):
    result = []
    for first, last in a:
        for x, y in b:
            if y <= first or x >= last:
                continue
            if x > first:
                result.append((first, x))
            first = max(first, y)
        if first < last:
            result.append((first, last))
    return union(result)


def length(spans):
    return sum(b - a for a, b in spans)
