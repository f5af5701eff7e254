// SPDX-License-Identifier: MIT
// Calls by time: one run, or two with their differences.

import { IS_IO, NAMES } from '../classes.js';
import { dimNames } from '../filter.js';
import * as format from '../format.js';
import { BINS, percentiles } from '../histogram.js';
import { Table } from '../table.js';
import { bytes, counts, means, shares, times } from './columns.js';
import { chosenOf, most, present, total } from './groups.js';

/* p50 and p99 by call, of histograms. */
function percentilesOf(view) {
    const { cube, count, passes, ignored, sub } = view.latency(['c'], { without: ['c'] }),
        each = new Map();
    const p50 = new Float64Array(view.run.extent.c).fill(NaN),
        p99 = p50.slice();

    for (let i = 0; i < count; i++)
        if (passes[i]) {
            const counted = each.get(cube.c[i]) ?? each.set(cube.c[i], new Float64Array(BINS)).get(cube.c[i]);
            counted[Math.min(BINS - 1, cube.bin[i])] += cube.n[i];
        }
    for (const [c, counted] of each) [p50[c], p99[c]] = percentiles(counted, sub, [50, 99]);
    return { p50, p99, ignored, isAbout: sub === 1 };
}

const kindOf = (run, c) => Math.min(6, run.table('calls').class[c]);

/* A column of the class, with its colour. */
function classColumn(view, kind) {
    return { title: 'class', width: 84, is_minor: true, value: (c) => NAMES[kind(c)] };
}

function ownColumns(view, numbers) {
    const { run } = view,
        sum = total(numbers.time_ns.filter((_, c) => IS_IO[kindOf(run, c)]));
    const name = (c) => numbers.name[c];
    const [bar, share] = shares(numbers.time_ns, sum, null);
    const known = (values) => (c) => (Number.isFinite(values[c]) ? format.ns(values[c]) : '-');

    return [
        {
            title: 'call',
            width: 190,
            value: name,
            text: (c, letters) => format.cut(name(c), letters),
            tip: (c) => [format.safe(name(c)), ['category', run.table('calls').cat[c]]],
        },
        classColumn(view, (c) => kindOf(run, c)),
        counts('calls', numbers.calls, { width: 84 }),
        counts('failed', numbers.failed, { width: 66, is_minor: true }),
        times('time', numbers.time_ns),
        {
            ...bar,
            share: (c) => (IS_IO[kindOf(run, c)] ? bar.share(c) : 0),
            colour: (c) => view.colours.classes[kindOf(run, c)],
        },
        { ...share, help: 'of all I/O', text: (c) => (IS_IO[kindOf(run, c)] ? share.text(c) : '-') },
        means('mean', numbers.time_ns, numbers.calls, format.ns, { csv: 'mean_ns', is_minor: true }),
        {
            title: 'p50',
            is_minor: true,
            csv: 'p50_ns',
            width: 74,
            is_number: true,
            value: (c) => numbers.p50_ns[c],
            text: known(numbers.p50_ns),
        },
        {
            title: 'p99',
            is_minor: true,
            csv: 'p99_ns',
            width: 74,
            is_number: true,
            value: (c) => numbers.p99_ns[c],
            text: known(numbers.p99_ns),
        },
        bytes('bytes', numbers.bytes),
        means('a call', numbers.bytes, numbers.calls, format.bytes, { csv: 'bytes_a_call', is_minor: true }),
    ];
}

/* Calls of both runs, matched by category, name and class: numbers of each side by row of the union. */
function union(base, other, mine) {
    const keys = new Map(),
        sides = [
            [base, base.numbers(mine)],
            [other, other.numbers(mine)],
        ];

    sides.forEach(([view, numbers], side) =>
        present(numbers.calls).forEach((c) => {
            const calls = view.run.table('calls'),
                key = [calls.cat[c], calls.name[c], calls.class[c]].join('\0');
            if (!keys.has(key)) keys.set(key, { name: calls.name[c], kind: kindOf(view.run, c), rows: [-1, -1] });
            keys.get(key).rows[side] = c;
        }),
    );
    const rows = [...keys.values()];
    const column = (name, side) =>
        Float64Array.from(rows, (row) => (row.rows[side] < 0 ? 0 : sides[side][1][name][row.rows[side]]));
    return { rows, column };
}

/* Holds a number of B against that of A. */
function ratioText(a, b) {
    if (!a || !b) return a ? 'gone' : b ? 'new' : '';
    return Math.abs(b - a) < 0.02 * a ? '' : format.factor(b / a);
}

function comparedColumns(view, base, joint) {
    const [a, b] = [base.run.name || 'A', view.run.name || 'B'].map((name) => format.cut(name, 8));
    const pair = (make, title, name, more) => [
        make(`${title} ${a}`, joint.column(name, 0), more),
        make(`${title} ${b}`, joint.column(name, 1), more),
    ];
    const [timeA, timeB] = [joint.column('time_ns', 0), joint.column('time_ns', 1)];
    const difference = timeB.map((value, i) => value - timeA[i]);
    const side = (i) => (ratioText(timeA[i], timeB[i]) === '' ? '' : difference[i] > 0 ? 'worse' : 'better');

    return [
        {
            title: 'call',
            width: 190,
            value: (i) => joint.rows[i].name,
            text: (i, letters) => format.cut(joint.rows[i].name, letters),
            tip: (i) => [format.safe(joint.rows[i].name)],
        },
        classColumn(view, (i) => joint.rows[i].kind),
        ...pair(times, 'time', 'time_ns', { width: 86 }),
        {
            title: 'difference',
            csv: 'difference_ns',
            width: 92,
            is_number: true,
            value: (i) => Math.abs(difference[i]),
            css: side,
            text: (i) => (side(i) ? (difference[i] > 0 ? '+' : '') + format.ns(difference[i]) : ''),
        },
        {
            title: 'factor',
            width: 66,
            is_number: true,
            value: (i) => timeB[i] / timeA[i],
            css: side,
            text: (i) => ratioText(timeA[i], timeB[i]),
        },
        ...pair(counts, 'calls', 'calls', { width: 88 }),
        ...pair(times, 'p50', 'p50_ns', { width: 80 }),
        ...pair(bytes, 'bytes', 'bytes', { width: 84 }),
    ];
}

/* The time of calls that are named NAME. */
function timeOf(view, picture, name) {
    const numbers = view.numbers(picture);

    return total(numbers.time_ns.filter((_, c) => numbers.name[c] === name));
}

export default {
    id: 'calls',
    title: 'Calls',
    axes: ['c'],
    is_together: true,
    lacks: () => null,
    numbers(view) {
        const sums = view.sums(['c'], { columns: ['n', 'e', 'd', 'b'], without: ['c'] }),
            { p50, p99, ignored, isAbout } = percentilesOf(view);
        const calls = view.run.table('calls'),
            isRegion = (c) => calls.is_region[c];
        const own = (values) => values.map((value, c) => (isRegion(c) ? 0 : value));

        return {
            name: calls.name,
            cat: calls.cat,
            calls: own(sums.n),
            failed: own(sums.e),
            time_ns: own(sums.d),
            bytes: own(sums.b),
            p50_ns: p50,
            p99_ns: p99,
            is_about: isAbout,
            percentiles_ignored: ignored,
            ignored: sums.ignored,
        };
    },
    sentence(view, numbers) {
        const top = most(
            chosenOf(view, 'c', numbers.time_ns).map((value, c) => (IS_IO[kindOf(view.run, c)] ? value : 0)),
        );

        if (top < 0) return 'No calls that are I/O.';
        const rest = view.base ? `, and ${format.ns(timeOf(view.base, this, numbers.name[top]))} in the other run` : '';
        const count = format.counted(numbers.calls[top], 'call'),
            name = format.cut(numbers.name[top], 60);
        return `${name} takes most: ${format.ns(numbers.time_ns[top])} in ${count}${rest}.`;
    },
    completeness: (view, numbers) =>
        [
            numbers.is_about ? 'percentiles are about' : '',
            numbers.percentiles_ignored.length
                ? `p50 and p99 not filtered by ${dimNames(view.run, numbers.percentiles_ignored)}`
                : '',
        ]
            .filter(Boolean)
            .join('; '),
    draw(element, view, numbers) {
        const { base } = view;

        if (!base) {
            new Table(element, {
                key: 'calls',
                label: 'calls',
                rows: present(numbers.calls),
                sort: 'time',
                columns: ownColumns(view, numbers),
                is_chosen: (c) => view.filter.c?.[c],
                choose: (c, add) => view.select({ c: [c] }, add),
            });
            return;
        }
        const joint = union(base, view, this);
        const at = (i) => (joint.rows[i].rows[1] >= 0 ? [view, joint.rows[i].rows[1]] : [base, joint.rows[i].rows[0]]);
        new Table(element, {
            key: 'calls of two',
            label: 'calls of both runs',
            rows: joint.rows.map((_, i) => i),
            sort: 'difference',
            columns: comparedColumns(view, base, joint),
            is_chosen: (i) => at(i)[0].filter.c?.[at(i)[1]],
            choose: (i, add) => at(i)[0].select({ c: [at(i)[1]] }, add),
        });
    },
};
