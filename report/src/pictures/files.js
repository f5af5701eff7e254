// SPDX-License-Identifier: MIT
// Files, and patterns of files with like names: a table to sort, search and choose from.

import * as format from '../format.js';
import { Table, switcher } from '../table.js';
import { bytes, counts, means, shares, times } from './columns.js';
import { chosenOf, groupSums, most, present, total } from './groups.js';

const SUMS = ['calls', 'failed', 'time_ns', 'bytes', 'read_bytes', 'written_bytes', 'wait_ns', 'all_calls', 'all_ns'];

let shown = 'files';

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

function columnsOf(view, sums, isPattern, distinct) {
    const name = (row) => sums.path[row] || OTHERS;

    return [
        {
            title: isPattern ? 'pattern' : 'file',
            width: 340,
            value: name,
            text: (row, letters) => format.path(name(row), letters),
            tip: (row) => [format.safe(name(row))],
        },
        ...(isPattern ? [counts('files', sums.files, { width: 66 })] : []),
        counts('calls', sums.calls, { width: 78 }),
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
        ...(distinct
            ? [
                  {
                      title: 'again',
                      is_minor: true,
                      width: 66,
                      is_number: true,
                      help: 'how often the bytes of the file were read, on average',
                      value: (row) => (distinct[row] > 1 ? sums.read_bytes[row] / (distinct[row] - 1) : NaN),
                      text: (row) =>
                          distinct[row] > 1 && sums.read_bytes[row]
                              ? format.factor(sums.read_bytes[row] / (distinct[row] - 1))
                              : '-',
                  },
              ]
            : []),
    ];
}

export default {
    id: 'files',
    title: 'Files',
    axes: ['f', 'c'],
    is_stacked: true,
    lacks: (run) =>
        run.extent.f > 0 && run.cubes.some((cube) => cube.dims.includes('f')) ? null : 'These data do not know files.',
    numbers: (view) => ({ ...groupSums(view, 'f'), path: view.run.table('files').path }),
    sentence(view, numbers) {
        const spent = chosenOf(view, 'f', numbers.time_ns),
            top = most(spent);
        const rows = present(chosenOf(view, 'f', numbers.all_calls)).filter((row) => numbers.path[row] !== '').length;

        if (top < 0) return 'No calls on files.';
        return (
            `${format.counted(rows, 'file')}, ${format.ns(total(spent))} of I/O; ` +
            `the most in ${format.path(numbers.path[top] || OTHERS, 70)}: ` +
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
        const { run } = view;
        const hasPatterns = run.table('patterns').rows > 0;

        const fill = () => {
            const isPattern = shown === 'patterns' && hasPatterns;
            const sums = isPattern ? byPattern(run, numbers) : numbers;
            const filesOf = (row) =>
                Array.from(run.table('files').pattern.keys()).filter(
                    (file) => run.table('files').pattern[file] === row,
                );

            element.replaceChildren();
            new Table(element, {
                key: `files ${shown} ${run.name}`,
                label: 'files',
                rows: present(sums.all_calls),
                sort: 'time',
                columns: columnsOf(view, sums, isPattern, isPattern ? null : run.table('files').distinct),
                is_chosen: isPattern ? null : (row) => view.filter.f?.[row],
                choose: (row, add) => view.select({ f: isPattern ? filesOf(row) : [row] }, add),
                extra: hasPatterns
                    ? [
                          switcher(
                              [
                                  ['files', 'files'],
                                  ['patterns', 'patterns'],
                              ],
                              shown,
                              (value) => {
                                  shown = value;
                                  fill();
                              },
                          ),
                      ]
                    : [],
            });
        };
        fill();
    },
};
