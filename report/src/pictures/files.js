// SPDX-License-Identifier: MIT
// Files, and patterns of files with like names: a table to sort, search and choose from.

import { el } from '../draw.js';
import * as format from '../format.js';
import { Table, switcher } from '../table.js';
import { bytes, counts, means, shares, times } from './columns.js';
import { bytesOfBoth, countsOfBoth, differenceText, differences, namesOf, pair, union } from './compared.js';
import { folderOf, shortOf } from './folder.js';
import { chosenOf, groupSums, most, present, total } from './groups.js';

const SUMS = ['calls', 'failed', 'time_ns', 'bytes', 'read_bytes', 'written_bytes', 'wait_ns', 'all_calls', 'all_ns'];

/* What is shown: of one run what a reader asked for, of two patterns, as names often differ in a number only. */
const shown = { one: null, two: 'patterns' };

/* With more files than these, and not said otherwise, a table has patterns. */
const MOST_FILES = 20;

const OTHERS = '(other files)';

/* Sums of files as sums of their patterns. */
function byPattern(run, numbers) {
    const patterns = run.table('patterns'),
        of = run.table('files').pattern;
    const sums = Object.fromEntries(SUMS.map((name) => [name, new Float64Array(patterns.rows)]));
    const files = new Float64Array(patterns.rows);

    for (let row = 0; row < of.length; row++) {
        const pattern = Math.min(of[row], patterns.rows - 1);
        for (const name of SUMS) sums[name][pattern] += numbers[name][row];
        files[pattern] += +(numbers.all_calls[row] > 0);
    }
    return { ...sums, files, path: patterns.text };
}

/**
 * How often the bytes of a file were read: bytes read by DISTINCT bytes (+1; 0 not known). Not known, too, where fewer
 * bytes were read than are distinct: those were written.
 */
export function again(readBytes, distinct) {
    const times = distinct > 1 ? readBytes / (distinct - 1) : NaN;

    return times >= 1 ? times : NaN;
}

function againColumn(sums, distinct) {
    const value = (row) => again(sums.read_bytes[row], distinct[row]);

    return {
        title: 'again',
        is_minor: true,
        width: 66,
        is_number: true,
        help: 'how often the bytes of the file were read, on average',
        value,
        text: (row) => format.factor(value(row)),
    };
}

function nameColumn(name, isPattern, short = (text) => text) {
    return {
        title: isPattern ? 'pattern' : 'file',
        width: 340,
        value: name,
        text: (row, letters) => format.path(short(name(row)), letters),
        tip: (row) => [format.safe(name(row))],
    };
}

function columnsOf(view, sums, isPattern, distinct) {
    return [
        nameColumn(
            (row) => sums.path[row] || OTHERS,
            isPattern,
            (path) => shortOf(view.run, path),
        ),
        ...(isPattern ? [counts('files', sums.files, { width: 66 })] : []),
        counts('calls', sums.calls, { width: 96 }),
        counts('failed', sums.failed, { width: 62, is_minor: true }),
        times('time', sums.time_ns),
        ...shares(sums.time_ns, total(sums.time_ns), view.colours.accent),
        means('mean', sums.time_ns, sums.calls, format.ns, { csv: 'mean_ns', is_minor: true }),
        bytes('read', sums.read_bytes),
        bytes('written', sums.written_bytes),
        means('a call', sums.bytes, sums.calls, format.bytes, {
            csv: 'bytes_a_call',
            is_minor: true,
            help: 'bytes that a call moves on average',
        }),
        ...(distinct ? [againColumn(sums, distinct)] : []),
    ];
}

/* Files, or patterns, of both runs, matched by their names. */
function jointOf(view, mine, isPattern) {
    return union(
        [view.base, view].map((side) => {
            const own = side.numbers(mine),
                numbers = isPattern ? byPattern(side.run, own) : own;
            return { numbers, rows: present(numbers.all_calls), keyOf: (row) => numbers.path[row] };
        }),
    );
}

const isOfTwo = (view, mine) => !!view.base && !mine.lacks(view.base.run);

const hasPatterns = (view) => [view, view.base].every((one) => !one || one.run.table('patterns').rows > 0);

/* Rows of files that are of a pattern, as a reader chooses them. */
function filesOf(run, pattern) {
    const of = run.table('files').pattern;

    return pattern < 0 ? [] : Array.from(of.keys()).filter((file) => of[file] === pattern);
}

/* Chooses the files of a row of both runs, or frees them when they are chosen. */
function chooseOfBoth(view, joint, isPattern, add) {
    return (i) => {
        const [a, b] = [view.base, view].map((side, k) => {
            const row = joint.rows[i].rows[k];
            return isPattern ? filesOf(side.run, row) : row < 0 ? [] : [row];
        });
        const path = (side, row) => side.run.table('files').path[row];
        const inB = new Set(b.map((row) => path(view, row)));
        const onlyA = a.filter((row) => !inB.has(path(view.base, row)));
        if (b.length) view.select({ f: b }, add);
        if (onlyA.length) view.base.select({ f: onlyA }, add || b.length > 0);
    };
}

function tableOfOne(element, view, numbers, isPattern, extra) {
    const sums = isPattern ? byPattern(view.run, numbers) : numbers;
    const isWhole = view.filter.chosen.every((dim) => dim === 'f');
    const folder = folderOf(view.run);

    new Table(element, {
        key: `files ${isPattern} ${view.run.name}`,
        label: 'files',
        rows: present(sums.all_calls),
        sort: 'time',
        columns: columnsOf(view, sums, isPattern, isPattern || !isWhole ? null : view.run.table('files').distinct),
        is_chosen: isPattern ? null : (row) => view.filter.f?.[row],
        choose: (row, add) => view.select({ f: isPattern ? filesOf(view.run, row) : [row] }, add),
        extra,
    });
    if (folder)
        element.append(
            el('p', { class: 'dim note' }, `Names without a slash in front are below ${format.path(folder, 100)}`),
        );
}

function tableOfTwo(element, view, mine, isPattern, extra) {
    const joint = jointOf(view, mine, isPattern),
        names = namesOf(view, view.base);
    const isChosen = (i) => [view.base, view].some((side, k) => side.filter.f?.[joint.rows[i].rows[k]]);

    new Table(element, {
        key: `files of two ${shown.two}`,
        label: 'files of both runs',
        rows: joint.rows.map((_, i) => i),
        sort: 'difference',
        columns: [
            nameColumn((i) => joint.rows[i].key || OTHERS, isPattern),
            ...differences(joint, names),
            ...(isPattern ? pair(joint, names, counts, 'files', 'files', { width: 70, is_minor: true }) : []),
            ...countsOfBoth(joint, names),
            ...bytesOfBoth(joint, names),
        ],
        is_chosen: isPattern ? null : isChosen,
        choose: (i, add) => chooseOfBoth(view, joint, isPattern, add)(i),
        extra,
    });
}

export default {
    id: 'files',
    title: 'Files',
    axes: ['f', 'class'],
    is_together: true,
    lacks: (run) =>
        run.extent.f > 0 && run.cubes.some((cube) => cube.dims.includes('f')) ? null : 'These data do not know files.',
    numbers: (view) => ({ ...groupSums(view, 'f'), path: view.run.table('files').path }),
    sentence(view, numbers) {
        const spent = chosenOf(view, 'f', numbers.time_ns),
            top = most(spent.map((ns, row) => (numbers.path[row] === '' ? 0 : ns)));
        const rows = present(chosenOf(view, 'f', numbers.all_calls)).filter((row) => numbers.path[row] !== '').length;

        if (isOfTwo(view, this)) {
            const text = differenceText(jointOf(view, this, hasPatterns(view)), namesOf(view, view.base), (row) =>
                format.path(row.key || OTHERS, 70),
            );
            if (text) return text;
        }
        if (top < 0) return total(spent) ? 'Only files that have no row.' : 'No calls on files.';
        return (
            `${numbers.path[0] === '' && numbers.all_calls[0] ? 'At least ' : ''}${format.counted(rows, 'file')}, ` +
            `${format.ns(total(spent))} of I/O; ` +
            `the most in ${format.path(shortOf(view.run, numbers.path[top]), 70)}: ` +
            `${format.ns(spent[top])}, ${format.share(spent[top], total(spent))}.`
        );
    },
    completeness({ run }, numbers) {
        const thinned = run.thinned.filter((one) => one.what === 'files').map((one) => one.text);
        const others = numbers.path[0] === '' ? numbers.all_calls[0] : 0;

        return [...thinned, others ? `${format.counted(others, 'call')} on files that have no row` : '']
            .filter(Boolean)
            .join('; ');
    },
    draw(element, view, numbers) {
        const kind = isOfTwo(view, this) ? 'two' : 'one';
        const modes = [
            ['files', 'files'],
            ['patterns', 'patterns'],
        ];

        const fill = () => {
            const mode = shown[kind] ?? (present(numbers.all_calls).length > MOST_FILES ? 'patterns' : 'files');
            const isPattern = mode === 'patterns' && hasPatterns(view);
            const turn = (value) => {
                shown[kind] = value;
                fill();
            };
            const extra = hasPatterns(view) ? [switcher(modes, isPattern ? 'patterns' : 'files', turn)] : [];

            element.replaceChildren();
            if (kind === 'two') tableOfTwo(element, view, this, isPattern, extra);
            else tableOfOne(element, view, numbers, isPattern, extra);
        };
        fill();
    },
};
