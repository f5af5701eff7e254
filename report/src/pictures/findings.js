// SPDX-License-Identifier: MIT
// The findings: the first with what proves it, the others a line each that opens; and risks.

import { el } from '../draw.js';
import * as format from '../format.js';
import { shortOf } from './folder.js';
import { stateOf } from './parts.js';
import { placesOf } from './places.js';
import { drawProof } from './proofs.js';

const BASES = { job: 'of the job', processes: 'of all processes', threads: 'of all threads' };

/* What FINDING costs, as the verdict says it: of the job where that has ranks. `{ns, whole, of}`, `of` in words. */
export function costOf(finding) {
    const { cost_ns: ns, of_ns: whole, of, cost_job_ns: jobCost, job_ns: job } = finding;

    if (!job) return { ns, whole, of: BASES[of] ?? '' };
    return { ns: jobCost, whole: job, of: of === 'job' ? BASES.job : 'of the job at most' };
}

/* Its time, and its share as a number and a bar. */
function cost(finding) {
    const { ns, whole, of } = costOf(finding);

    if (!ns) return el('div', { class: 'cost' });
    return el(
        'div',
        { class: 'cost', title: of || null },
        format.ns(ns),
        '  ',
        el('span', { class: 'dim' }, format.share(ns, whole)),
        el('div', { class: 'meter' }, el('i', { style: { width: `${Math.min(100, (100 * ns) / (whole || 1))}%` } })),
    );
}

/* Buttons that choose the places of a finding, and its line of the source. */
function links(view, finding) {
    const places = placesOf(view.run, finding);
    const go = ({ change, to, search }) => {
        if (search) Object.assign(stateOf(view, to), { kind: 'stacks', search, path: [], name: null });
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
        finding.line && !places.some(({ search }) => search)
            ? el('span', { class: 'mono', title: 'line of the source' }, format.path(finding.line, 70))
            : null,
    );
}

/** Whether the line of a verdict of LEVEL is the title and the cost of the first finding. */
export const isOfFinding = (level) => level === 'lost' || level === 'findings';

/* Evidence, unless it IS_SAID, advice, proof and places. FILL draws the proof once the element is seen. */
function more(view, finding, isSaid = false) {
    const evidence = isSaid ? null : el('div', {}, format.cut(finding.evidence, 1200));
    const sure = finding.sure ? `sure: ${finding.sure}${finding.why_sure ? ', ' + finding.why_sure : ''}` : '';
    const when = finding.when ? `when: ${finding.when}` : '';
    const how = [sure, when].filter(Boolean).join('; ');
    const proof = el('div', { class: 'proof' });
    const node = el(
        'div',
        { class: 'more' },
        evidence,
        finding.advice ? el('div', { class: 'advice' }, format.cut(finding.advice, 1200)) : null,
        how ? el('div', { class: 'sure' }, format.cut(how, 400)) : null,
        proof,
        links(view, finding),
    );

    return { node, fill: () => proof.childElementCount || drawProof(proof, view, finding) };
}

const line = (finding) => [
    el('div', { class: 'number' }, finding.number ?? ''),
    el('h3', {}, format.cut(finding.title, 200)),
    cost(finding),
];

/* The first finding, whose proof is seen. What the verdict says of it stands above: it is not said again. */
function opened(host, view, finding) {
    const { level } = view.run.summary.verdict ?? {};
    const { node, fill } = more(view, finding, level === 'in-flight' && finding.code === 'in-flight');

    host.append(
        isOfFinding(level)
            ? el('article', { class: 'finding is-verdict' }, cost(finding), node)
            : el('article', { class: 'finding' }, line(finding), node),
    );
    fill();
}

/* A finding of one line, that opens. */
function closed(host, view, finding) {
    const { node, fill } = more(view, finding);
    const where = finding.where
        ? el('span', { class: 'dim' }, format.path(shortOf(view.run, finding.where), 60))
        : null;
    const [number, title, spent] = line(finding);

    if (where) title.append(' ', where);
    host.append(
        el(
            'details',
            { ontoggle: ({ target }) => target.open && fill() },
            el('summary', { class: 'finding' }, number, title, spent),
            el('div', { class: 'finding' }, node),
        ),
    );
}

/**
 * Appends the findings of VIEW to ELEMENT, which is in the document. IS_FIRST_OPEN: the first one with its proof, below
 * the verdict.
 */
export function drawFindings(element, view, isFirstOpen) {
    const [first, ...others] = view.run.summary.findings ?? [];

    if (!first) return;
    if (isFirstOpen) opened(element, view, first);
    for (const finding of isFirstOpen ? others : [first, ...others]) closed(element, view, finding);
}

/**
 * What costs little here, and much where a server answers each request: apart from what was measured, each by its name.
 */
export function risks(run, list) {
    const names = list.map(({ title, where }) => title + (where?.length > 1 ? ` (${format.path(shortOf(run, where), 40)})` : ''));

    return el(
        'details',
        { class: 'risks' },
        el(
            'summary',
            {},
            el('b', {}, `Risk: ${format.cut(names.join(', '), 400)}: `),
            'not slow here, but likely where a server has to answer each request',
        ),
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
