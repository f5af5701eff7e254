// SPDX-License-Identifier: MIT
// Of traces of several jobs: which they are, how large, how they ended, and when they ran.

import * as format from '../format.js';
import { isBad, jobsOf } from '../run_state.js';
import { Table } from '../table.js';
import { counts, times } from './columns.js';
import { binsAt } from './places.js';

export default {
    id: 'jobs',
    title: 'Jobs',
    axes: [],
    is_stacked: true,
    lacks: () => null,
    isFor: (run) => jobsOf(run).length > 1,
    numbers: ({ run, filter }) => ({
        jobs: jobsOf(run).map((job) => ({ ...job, wall_ns: Math.max(0, job.end_ns - job.start_ns) })),
        ignored: filter.chosen,
    }),
    sentence(view, { jobs }) {
        const longest = jobs.reduce((most, job) => (most && most.wall_ns >= job.wall_ns ? most : job), null);

        const failed = jobs.filter((job) => isBad(job.ended ?? '')).length;

        if (!longest) return 'No job is known.';
        return (
            `${format.counted(jobs.length, 'job')}${failed ? `, ${format.count(failed)} ended badly` : ''}; the longest is ${format.cut(longest.name, 60)}: ` +
            `${format.ns(longest.wall_ns)}. The rest of this page is of all of them together.`
        );
    },
    draw(element, view, { jobs }) {
        const of = (member) => Float64Array.from(jobs, (job) => job[member] ?? 0);

        new Table(element, {
            key: `jobs ${view.run.name}`,
            label: this.title,
            rows: jobs.map((_, row) => row),
            sort: 'ran',
            columns: [
                {
                    title: 'job',
                    width: 96,
                    value: (row) => jobs[row].name,
                    text: (row, letters) => format.cut(jobs[row].name, letters),
                    tip: (row) => [format.safe(jobs[row].name)],
                },
                {
                    title: 'ended',
                    width: 72,
                    value: (row) => jobs[row].ended ?? '-',
                    css: (row) => (isBad(jobs[row].ended ?? '') ? 'worse' : ''),
                },
                counts('processes', of('processes'), { width: 86, is_minor: true }),
                counts('ranks', of('ranks'), { width: 66, is_minor: true }),
                {
                    title: 'start',
                    is_minor: true,
                    width: 190,
                    value: (row) => jobs[row].start_ns,
                    text: (row) => format.moment(String(jobs[row].start_ns)),
                },
                times('I/O', of('io_ns'), { width: 70 }),
                times('ran', of('wall_ns'), { width: 70 }),
            ],
            choose: (row) => view.select({ t: binsAt(view.run, jobs[row].start_ns, jobs[row].end_ns) }),
        });
    },
};
