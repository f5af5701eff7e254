// SPDX-License-Identifier: MIT
// The pictures, and the order in which they stand on the page: what shows the findings comes first.

import bandwidth from './bandwidth.js';
import calls from './calls.js';
import classes from './classes.js';
import files from './files.js';
import flame from './flame.js';
import headline from './headline.js';
import heat from './heat.js';
import jobs from './jobs.js';
import latency from './latency.js';
import missing from './missing.js';
import offsets from './offsets.js';
import overlap from './overlap.js';
import people from './people.js';
import { cardsOf } from './proofs.js';
import ranks from './ranks.js';
import regions from './regions.js';
import sizes from './sizes.js';
import spans from './spans.js';
import timeline from './timeline.js';
import tree from './tree.js';
import treemap from './treemap.js';

export const pictures = [
    headline,
    jobs,
    bandwidth,
    heat,
    classes,
    sizes,
    latency,
    timeline,
    overlap,
    ranks,
    calls,
    files,
    treemap,
    offsets,
    regions,
    flame,
    people,
    tree,
    spans,
    missing,
];

/* Pictures of half the width stand side by side: where one is, the others follow. */
function sideBySide(ordered) {
    const narrow = ordered.filter((one) => one.is_narrow);

    return ordered.flatMap((one) => (one === narrow[0] ? narrow : one.is_narrow ? [] : [one]));
}

/**
 * The pictures in the order for RUN: the headline, the jobs, then those that show its findings, the costliest finding
 * first; of a run that computes then how I/O hides behind it; then the others. What is not here stands last.
 */
export function inOrder(run) {
    const wanted = (run.summary.findings ?? []).flatMap(cardsOf);

    if (overlap.isFor(run)) wanted.push('overlap', 'regions');
    const place = (one) => {
        const at = wanted.indexOf(one.id);
        if (one === headline || one === jobs) return pictures.indexOf(one) - pictures.length;
        return at < 0 ? wanted.length + pictures.indexOf(one) : at;
    };
    return sideBySide([...pictures].sort((a, b) => place(a) - place(b)));
}
