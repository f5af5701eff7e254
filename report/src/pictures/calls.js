// SPDX-License-Identifier: MIT
// Calls by time: one run, or two with their differences.

import { IS_IO, NAMES } from '../classes.js';
import { dimNames } from '../filter.js';
import * as format from '../format.js';
import { Durations } from '../histogram.js';
import { Table } from '../table.js';
import { bytes, counts, means, shares, times } from './columns.js';
import { bytesOfBoth, countsOfBoth, differenceText, differences, namesOf, pair, union } from './compared.js';
import { chosenOf, most, present, total } from './groups.js';

/* p50 and p99 by call, of histograms. */
function percentilesOf(view) {
    const { cube, count, passes, ignored, sub } = view.latency(['c'], { without: ['c'] }),
        each = new Map();
    const p50 = new Float64Array(view.run.extent.c).fill(NaN),
        p99 = p50.slice();

    for (let i = 0; i < count; i++)
        if (passes[i]) {
            if (!each.has(cube.c[i])) each.set(cube.c[i], new Durations(sub));
            each.get(cube.c[i]).add(cube, i);
        }
    for (const [c, durations] of each) [p50[c], p99[c]] = durations.percentiles([50, 99]);
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

/* Calls of both runs, matched by category, name and class. */
function jointOf(base, view, mine) {
    return union(
        [base, view].map((side) => {
            const numbers = side.numbers(mine),
                { cat, name, class: kind } = side.run.table('calls');
            return {
                numbers,
                rows: present(numbers.calls),
                keyOf: (c) => [cat[c], name[c], kind[c]].join('\0'),
            };
        }),
    );
}

const nameIn = (row) => row.key.split('\0')[1];

function comparedColumns(view, base, joint) {
    const names = namesOf(view, base);
    const nameAt = (i) => nameIn(joint.rows[i]);

    return [
        {
            title: 'call',
            width: 190,
            value: nameAt,
            text: (i, letters) => format.cut(nameAt(i), letters),
            tip: (i) => [format.safe(nameAt(i))],
        },
        classColumn(view, (i) => Math.min(6, Number(joint.rows[i].key.split('\0')[2]))),
        ...differences(joint, names),
        ...countsOfBoth(joint, names),
        ...pair(joint, names, times, 'p50', 'p50_ns', { width: 80, is_minor: true }),
        ...bytesOfBoth(joint, names),
    ];
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
        if (view.base) {
            const text = differenceText(jointOf(view.base, view, this), namesOf(view, view.base), (row) =>
                format.cut(nameIn(row), 60),
            );
            if (text) return text;
        }
        const count = format.counted(numbers.calls[top], 'call'),
            name = format.cut(numbers.name[top], 60);
        return `${name} takes most: ${format.ns(numbers.time_ns[top])} in ${count}.`;
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
        const joint = jointOf(base, view, this);
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
