// SPDX-License-Identifier: MIT
// Numbers and times as text, with the units and digits of the page in the terminal; names that are safe to show.

/* From here on, rounded to seconds, a time has two units. */
const TEN_MINUTES = 599.5e9;

/* Three digits that count: 1.26, 12.6, 126; more before the point stay. */
function digits(value) {
    const size = Math.abs(value);

    return value.toFixed(size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
}

/** A time, such as "451 ns" or "1.26 s". */
export function ns(value) {
    if (value === null || value === undefined || !Number.isFinite(value)) return '-';
    if (value < 0) return '-' + ns(-value);
    if (value < 1000) return (Number.isInteger(value) ? value : digits(value)) + ' ns';
    if (value < 999.5e3) return digits(value / 1e3) + ' us';
    if (value < 999.5e6) return digits(value / 1e6) + ' ms';
    return value < TEN_MINUTES ? digits(value / 1e9) + ' s' : long(Math.round(value / 1e9));
}

/* "18 m 51 s", "2 h 05 m", "1,234 h" */
function long(seconds) {
    const minutes = Math.round(seconds / 60),
        two = (value) => String(value).padStart(2, '0');

    if (seconds < 3600) return `${Math.floor(seconds / 60)} m ${two(seconds % 60)} s`;
    return minutes < 6000 ? `${Math.floor(minutes / 60)} h ${two(minutes % 60)} m` : count(minutes / 60) + ' h';
}

/**
 * A mark of an axis of time whose marks are STEP apart, and of which MOST is the last: all in one unit, with the digits
 * that STEP needs; of long times as ns() has them.
 */
export function tick(value, step, most) {
    const [unit, size] = most >= 1e9 ? ['s', 1e9] : most >= 1e6 ? ['ms', 1e6] : most >= 1e3 ? ['us', 1e3] : ['ns', 1];

    if (most >= TEN_MINUTES && step >= 1e9) return value ? long(Math.round(value / 1e9)) : '0 s';
    return `${(value / size).toFixed(Math.min(9, Math.max(0, Math.ceil(-Math.log10(step / size || 1) - 1e-9))))} ${unit}`;
}

const UNITS = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];

/** A number of bytes, such as "242 KiB". */
export function bytes(value) {
    if (value === null || value === undefined || !Number.isFinite(value)) return '-';
    if (value < 0) return '-' + bytes(-value);
    if (value < 1024) return (Number.isInteger(value) ? value : digits(value)) + ' B';
    let scaled = value / 1024,
        unit = 0;
    for (; scaled >= 1023.5 && unit < UNITS.length - 1; unit++) scaled /= 1024;
    return digits(scaled) + ' ' + UNITS[unit];
}

/** Bytes in a second. */
export function rate(value) {
    return bytes(value) === '-' ? '-' : bytes(value) + '/s';
}

/** A count with its thousands marked: "232,212". */
export function count(value) {
    if (value === null || value === undefined || !Number.isFinite(value)) return '-';
    return Math.round(value)
        .toString()
        .replace(/\B(?=(\d{3})+$)/g, ',');
}

/** A count and its noun: "1 call", "2 calls". */
export function counted(value, one, many = one + 's') {
    return `${count(value)} ${value === 1 ? one : many}`;
}

/** PART of WHOLE: "68.8 %". */
export function share(part, whole) {
    return whole > 0 && Number.isFinite(part) ? ((100 * part) / whole).toFixed(1) + ' %' : '-';
}

/** How many times as much: "1.8x", "92x". */
export function factor(value) {
    if (!(value > 0 && value < 2 ** 64)) return '-';
    if (value < 0.005) return '<0.01x';
    return (value < 9.95 ? value.toFixed(value < 0.095 ? 2 : 1) : count(value)) + 'x';
}

/** What became of a number: "+23 %", "-82 %", from twice on "2.0x"; "new", "gone", or "-" where it stayed. */
export function change(before, after) {
    const part = (100 * (after - before)) / before;

    if (before === after) return '-';
    if (!before || !after) return before ? 'gone' : 'new';
    if (after >= 2 * before) return factor(after / before);
    if (part <= -99.5) return Math.max(part, -99.9).toFixed(1) + ' %';
    return (part > 0 ? '+' : '') + part.toFixed(Math.abs(part) < 9.95 ? 1 : 0) + ' %';
}

/** A time in the run, from its start on: "+1.20 s". */
export function at(value) {
    return value < 0 ? '-' + ns(-value) : '+' + ns(value);
}

/** The moment BASE (Unix ns as text) plus AFTER ns, in UTC. */
export function moment(base, after = 0) {
    let ms;

    try {
        ms = Number((BigInt(base || 0) + BigInt(Math.round(after))) / 1000000n);
    } catch {
        return '-';
    }
    const date = new Date(ms);
    return Number.isNaN(date.getTime()) ? '-' : date.toISOString().slice(0, 19).replace('T', ' ') + ' UTC';
}

const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/** TEXT with characters that are not seen, or that turn the text around, escaped. */
export function safe(text) {
    return String(text ?? '').replace(HIDDEN, (mark) => '\\u' + mark.charCodeAt(0).toString(16).padStart(4, '0'));
}

/** TEXT, escaped, at most MOST characters of it, cut in the middle. */
export function cut(text, most = 60) {
    const whole = safe(text);

    if (whole.length <= most) return whole;
    const head = Math.floor((most - 3) / 2);
    return whole.slice(0, head) + '...' + whole.slice(whole.length - (most - 3 - head));
}

/** A path, escaped, of at most MOST characters: whole components at its end, as far as they go. */
export function path(text, most = 60) {
    const whole = safe(text);

    if (whole.length <= most) return whole;
    const slash = whole.indexOf('/', whole.length - most + 3);
    return slash > 0 && slash < whole.length - 1 ? '...' + whole.slice(slash) : cut(whole, most);
}

/** The bounds of a class of sizes: "1 B", "64 B-1 KiB", "1 GiB or more". */
export function sizeClass({ from, to }) {
    if (to === null || to === undefined) return whole(from) + ' or more';
    return to === from ? whole(from) : `${whole(from)}-${whole(to + 1)}`;
}

/* A bound of a class: a power of two needs no digits behind the point. */
function whole(value) {
    let unit = 'B';

    for (const next of UNITS) {
        if (value < 1024 || value % 1024) break;
        value /= 1024;
        unit = next;
    }
    return `${value} ${unit}`;
}
