// SPDX-License-Identifier: MIT
// Ranks, or processes: what each of them spent on I/O, as a table to sort and choose from.

import * as format from '../format.js';
import { Table } from '../table.js';
import { bytes, counts, means, times } from './columns.js';
import { chosenOf, groupSums, most, total } from './groups.js';

/* Hosts and programs of row P are those of its first process. */
function firstProcesses(run) {
    const processes = run.table('processes'),
        first = new Map();

    for (let row = 0; row < processes.rows; row++) if (!first.has(processes.p[row])) first.set(processes.p[row], row);
    return (column) => (p) => (first.has(p) ? processes[column][first.get(p)] : '');
}

export default {
    id: 'people',
    title: 'Ranks and processes',
    axes: ['p', 'c'],
    is_stacked: true,
    lacks: (run) => (run.extent.p ? null : 'This run has no processes.'),
    numbers: (view) => ({
        ...groupSums(view, 'p'),
        label: view.run.table('who').label,
        life_ns: view.lives({ without: ['p'] }).each,
    }),
    sentence(view, numbers) {
        const { run } = view,
            spent = chosenOf(view, 'p', numbers.time_ns),
            top = most(spent),
            sum = total(spent);
        const count = view.filter.p ? total(view.filter.p) : numbers.label.length;
        const [one, many] =
            run.who === 'process'
                ? ['process', 'processes']
                : run.who === 'rank'
                  ? ['rank', 'ranks']
                  : ['group of ranks', 'groups of ranks'];

        if (top < 0) return `${format.counted(count, one, many)}, none of them in I/O.`;
        return (
            `${format.counted(count, one, many)}; ${format.cut(numbers.label[top], 60)} has the most I/O: ${format.ns(numbers.time_ns[top])}, ` +
            `${format.share(numbers.time_ns[top], numbers.life_ns[top])} of its time${count > 1 ? `, ${format.factor((numbers.time_ns[top] * count) / sum)} the average` : ''}.`
        );
    },
    draw(element, view, numbers) {
        const { run } = view,
            of = firstProcesses(run),
            who = run.table('who');
        const isMany = who.rows > 0 && who.processes.some((count) => count > 1);
        const text = (column) => ({
            title: column,
            is_minor: true,
            width: 100,
            value: of(column),
            text: (row) => format.path(of(column)(row), 24),
            tip: (row) => [format.safe(of(column)(row))],
        });

        new Table(element, {
            key: `people ${run.name}`,
            label: this.title,
            rows: Array.from(numbers.label, (_, p) => p),
            sort: 'I/O',
            columns: [
                {
                    title: run.who === 'process' ? 'process' : 'rank',
                    width: 200,
                    value: (p) => numbers.label[p],
                    text: (p) => format.cut(numbers.label[p], 40),
                    tip: (p) => [format.safe(numbers.label[p]), format.safe(of('command')(p))],
                },
                text('program'),
                text('host'),
                ...(isMany ? [counts('processes', who.processes, { width: 78 })] : []),
                times('lived', numbers.life_ns, { is_minor: true }),
                times('I/O', numbers.time_ns),
                {
                    title: '',
                    csv: 'share',
                    is_minor: true,
                    width: 90,
                    is_number: true,
                    value: (p) => numbers.time_ns[p] / (numbers.life_ns[p] || 1),
                    share: (p) => numbers.time_ns[p] / (numbers.life_ns[p] || 1),
                    colour: () => view.colours.accent,
                },
                {
                    title: '%',
                    width: 54,
                    is_number: true,
                    help: 'I/O, of the time that it lived',
                    value: (p) => (100 * numbers.time_ns[p]) / (numbers.life_ns[p] || NaN),
                    text: (p) => format.share(numbers.time_ns[p], numbers.life_ns[p]).replace(' %', ''),
                },
                times('waiting', numbers.wait_ns, { is_minor: true }),
                counts('calls', numbers.calls, { width: 78 }),
                counts('failed', numbers.failed, { width: 62, is_minor: true }),
                bytes('read', numbers.read_bytes),
                bytes('written', numbers.written_bytes),
                means('mean', numbers.time_ns, numbers.calls, format.ns, { csv: 'mean_ns', is_minor: true }),
            ],
            is_chosen: (p) => view.filter.p?.[p],
            choose: (p, add) => view.select({ p: [p] }, add),
        });
    },
};
