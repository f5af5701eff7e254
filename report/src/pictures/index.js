// SPDX-License-Identifier: MIT
// The pictures, in the order in which they stand on the page.

import bandwidth from './bandwidth.js';
import calls from './calls.js';
import classes from './classes.js';
import files from './files.js';
import findings from './findings.js';
import headline from './headline.js';
import latency from './latency.js';
import missing from './missing.js';
import people from './people.js';
import regions from './regions.js';
import sizes from './sizes.js';

export const pictures = [
    headline,
    findings,
    bandwidth,
    classes,
    sizes,
    latency,
    calls,
    files,
    regions,
    people,
    missing,
];
