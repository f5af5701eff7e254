// SPDX-License-Identifier: MIT
// The pictures, in the order in which they stand on the page.

import bandwidth from './bandwidth.js';
import calls from './calls.js';
import classes from './classes.js';
import files from './files.js';
import findings from './findings.js';
import flame from './flame.js';
import headline from './headline.js';
import heat from './heat.js';
import latency from './latency.js';
import missing from './missing.js';
import offsets from './offsets.js';
import overlap from './overlap.js';
import people from './people.js';
import ranks from './ranks.js';
import regions from './regions.js';
import sizes from './sizes.js';
import spans from './spans.js';
import timeline from './timeline.js';
import tree from './tree.js';
import treemap from './treemap.js';

export const pictures = [
    headline,
    findings,
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
