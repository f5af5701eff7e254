// SPDX-License-Identifier: MIT
// The findings: what costs time, how sure that is, what helps, and links to the places that they speak of.

import { el } from '../draw.js';
import * as format from '../format.js';

/* Rows of files that are PATH, or lie below it. */
function filesAt(run, path) {
    const paths = run.table('files').path,
        rows = [];

    for (let row = 1; row < paths.length; row++)
        if (paths[row] === path) return [row];
        else if (paths[row].startsWith(path.endsWith('/') ? path : path + '/')) rows.push(row);
    return rows;
}

/* The bins between two times of Unix, or null. */
function binsAt(run, from, to) {
    if (from === null || to === null || from === undefined || to === undefined) return null;
    const base = Number(run.base_ns),
        width = run.time.width_ns;
    const first = Math.min(Math.max(0, Math.floor((from - base) / width)), Math.max(0, run.time.count - 1));
    return [first, Math.max(first + 1, Math.min(run.time.count, Math.ceil((to - base) / width)))];
}

/** Places that FINDING speaks of: `[{text, change, to}]`, a change of the filter and the card that shows it. */
export function placesOf(run, finding) {
    const places = [],
        who = run.table('who');

    if (finding.rank !== null && finding.rank !== undefined) {
        const row = Array.from(who.rank ?? []).indexOf(finding.rank + 1);
        if (row >= 0) places.push({ text: `rank ${finding.rank}`, change: { p: [row] }, to: 'classes' });
    }
    const files = finding.where ? filesAt(run, finding.where) : [];
    if (files.length)
        places.push({
            text:
                files.length === 1
                    ? format.path(run.table('files').path[files[0]], 40)
                    : `${format.count(files.length)} files below ${format.path(finding.where, 40)}`,
            change: { f: files },
            to: 'files',
        });
    const bins = binsAt(run, finding.from_ns, finding.to_ns);
    if (bins) {
        const width = run.time.width_ns;
        places.push({
            text: bins.map((bin) => format.at(Math.max(0, bin * width - run.start_ns))).join(' to '),
            change: { t: bins },
            to: 'bandwidth',
        });
    }
    return places;
}

/* What a finding costs: its time, and its share as a number and a bar. */
function cost({ cost_ns: ns, of_ns: whole }) {
    if (!ns) return el('div', { class: 'cost' });
    return el(
        'div',
        { class: 'cost' },
        format.ns(ns),
        '  ',
        el('span', { class: 'dim' }, format.share(ns, whole)),
        el('div', { class: 'meter' }, el('i', { style: { width: `${Math.min(100, (100 * ns) / (whole || 1))}%` } })),
    );
}

/* Buttons that choose the places of a finding, and its line of the source. */
function links(view, finding) {
    const places = placesOf(view.run, finding);
    const go = ({ change, to }) => {
        view.select(change);
        view.go(to);
    };

    if (!places.length && !finding.line) return null;
    return el(
        'div',
        { class: 'links' },
        places.length ? el('span', { class: 'dim' }, 'show') : null,
        places.map((place) =>
            el(
                'button',
                { type: 'button', title: 'choose this, and look there', onclick: () => go(place) },
                place.text,
            ),
        ),
        finding.line ? el('span', { class: 'mono', title: 'line of the source' }, format.path(finding.line, 70)) : null,
    );
}

function entry(view, finding) {
    const sure = finding.sure ? `sure: ${finding.sure}${finding.why_sure ? ', ' + finding.why_sure : ''}` : '';
    const when = finding.when ? `when: ${finding.when}` : '';
    const how = [sure, when].filter(Boolean).join('; ');

    return el(
        'article',
        { class: 'finding' },
        el('div', { class: 'number' }, finding.number ?? ''),
        el('h3', {}, format.cut(finding.title, 200)),
        cost(finding),
        el(
            'div',
            { class: 'more' },
            el('div', {}, format.cut(finding.evidence, 1200)),
            finding.advice ? el('div', { class: 'advice' }, format.cut(finding.advice, 1200)) : null,
            how ? el('div', { class: 'sure' }, format.cut(how, 400)) : null,
            links(view, finding),
        ),
    );
}

/* What costs little here, and much where a server answers each request: apart from what was measured. */
function risks(list) {
    return el(
        'section',
        { class: 'risks' },
        el('h3', {}, 'Risk: not slow here, but likely where a server has to answer each request'),
        el(
            'ul',
            {},
            ...list.map((risk) =>
                el(
                    'li',
                    {},
                    el('b', {}, format.cut(risk.title, 200)),
                    risk.where ? `: ${format.path(risk.where, 60)}` : '',
                    `: ${format.cut(risk.evidence, 400)}; `,
                    el(
                        'span',
                        { class: 'dim' },
                        `at most ${format.counted(risk.trips, 'round trip')}, ${format.ns(risk.at_ns)}`,
                    ),
                ),
            ),
        ),
    );
}

export default {
    id: 'findings',
    title: 'Findings',
    axes: [],
    lacks: () => null,
    numbers: ({ run, filter }) => ({
        findings: run.summary.findings ?? [],
        risks: run.summary.risks ?? [],
        ignored: filter.chosen,
    }),
    sentence({ run }, { findings }) {
        const good = run.summary.findings_nothing ? `not a problem: ${run.summary.findings_nothing}` : '';

        if (!findings.length) return `Nothing that costs 1 % of the time was found; ${good}`;
        return `${format.counted(findings.length, 'finding')}${findings.length > 1 ? ', the costliest first' : ''}; ${good}`;
    },
    completeness: ({ run }) =>
        (run.summary.findings_not_looked_for ?? []).length
            ? `not looked for: ${run.summary.findings_not_looked_for.join(', ')}`
            : '',
    draw(element, view, numbers) {
        element.append(...numbers.findings.map((finding) => entry(view, finding)));
        if (numbers.risks.length) element.append(risks(numbers.risks));
    },
};
