// SPDX-License-Identifier: MIT
// Spans of a workflow: the pictures that dftmerge drew, and the most common order of events.

import { el } from '../draw.js';
import * as format from '../format.js';

/* A picture is an image: nothing in it can run, whatever the database names. */
function image({ title, svg }) {
    return el('img', {
        class: 'drawn',
        src: `data:image/svg+xml,${encodeURIComponent(svg)}`,
        alt: format.safe(title),
    });
}

/* On a phone pictures keep a size that can be read, and are moved sideways. */
function images(pictures) {
    return el(
        'div',
        { class: 'drawings', tabindex: 0, role: 'region', 'aria-label': 'pictures of spans' },
        ...pictures.map(image),
    );
}

const COLUMNS = [
    ['event', (step) => format.safe(step.event)],
    ['since the first', (step) => format.ns(step.since_first_mean_ns)],
    ['since the one before', (step) => format.ns(step.since_before_mean_ns)],
    ['least', (step) => format.ns(step.since_before_min_ns)],
    ['most', (step) => format.ns(step.since_before_max_ns)],
];

/* The events of the most common ordering, with mean times. */
function ordering(steps) {
    const css = (i) => (i ? 'is-number' : null);

    return el(
        'table',
        { class: 'steps' },
        el('thead', {}, el('tr', {}, ...COLUMNS.map(([title], i) => el('th', { class: css(i) }, title)))),
        el(
            'tbody',
            {},
            ...steps.map((step) =>
                el('tr', {}, ...COLUMNS.map(([, text], i) => el('td', { class: css(i) }, text(step)))),
            ),
        ),
    );
}

export default {
    id: 'spans',
    title: 'Spans of the workflow',
    axes: [],
    is_together: true,
    /** The card is on a page alone that has such data. */
    isFor: (run) => !!run.spans,
    lacks: (run) => (run.spans ? null : 'No database of spans was given: dftmerge report --spans FILE.db.'),
    numbers: ({ run, filter }) => ({ ...run.spans, ignored: filter.chosen }),
    sentence(view, { file, root, roots, different, count }) {
        const orders = format.counted(different, 'order', 'orders');
        const most = count ? `, the most common one ${format.count(count)} times` : '';

        return `${format.counted(roots, 'span')} of type ${format.cut(root, 60)} in ${format.cut(file, 60)}: events in ${orders}${most}.`;
    },
    completeness: (view, { most_common: steps, length }) =>
        steps.length < length ? `the first ${format.count(steps.length)} of ${format.count(length)} events` : '',
    draw(element, view, numbers) {
        element.append(images(numbers.pictures), ...(numbers.count ? [ordering(numbers.most_common)] : []));
    },
};
