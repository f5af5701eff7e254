// SPDX-License-Identifier: MIT
// Paints the rows of the timeline that are seen: density with its gaps, then slices, each no thinner than a pixel.

import { isWait, WAIT } from '../classes.js';
import { cut, cutName, inkOn, mix, shadeOf } from './canvas.js';
import { nameOf } from './parts.js';
import { GAP, HEAD, LINE, lanesByRow, lineOf, visible } from './timeline_rows.js';

export function paintTimeline(view, numbers, chart, high) {
    const { context, top } = chart.it;
    const lanes = lanesByRow(numbers);

    context.save();
    context.beginPath();
    context.rect(0, 0, chart.it.width, high);
    context.clip();
    for (const row of visible(chart.layout, top, high)) {
        const y = row.y - top;
        if (row.kind === 'head') {
            paintLife(view, chart, row.p, y + 2, HEAD - 4);
            if (numbers.density)
                paintDensity(view, numbers, chart, row.p, y + 2, HEAD - 4, lanes.get(row.p)?.length ?? 1);
            paintName(view, chart, nameOf(view.run, row.p), 4, y + HEAD / 2, true);
        } else {
            paintLane(view, numbers, chart, row, y);
            if (row.strip) {
                const from = y + row.high - GAP - row.strip;
                paintLife(view, chart, row.p, from, row.strip);
                paintDensity(view, numbers, chart, row.p, from, row.strip, 1);
            }
        }
    }
    context.restore();
}

function paintName(view, chart, text, x, y, isHead) {
    const { context } = chart.it;
    context.fillStyle = isHead ? view.colours.text : view.colours.dim;
    context.textAlign = 'left';
    context.fillText(cutName(context, text, chart.left - x - 6), x, y);
}

/* A pattern of thin lines that rise to the right. */
function hatched(context, colour) {
    const tile = document.createElement('canvas');
    tile.width = tile.height = 6;
    const lines = tile.getContext('2d');
    lines.strokeStyle = colour;
    lines.lineWidth = 0.8;
    lines.beginPath();
    for (const by of [-6, 0, 6]) {
        lines.moveTo(by - 1, 7);
        lines.lineTo(by + 7, -1);
    }
    lines.stroke();
    return context.createPattern(tile, 'repeat');
}

/* The part of the window in which a row of p lives, shaded: what stays shaded is a gap. */
function paintLife(view, chart, p, y, high) {
    const { start_ns: born, life_ns: life } = view.run.table('who');
    const { context, width } = chart.it;
    const from = Math.max(chart.left, chart.xOf(born[p])),
        to = Math.min(width, chart.xOf(born[p] + life[p]));
    context.fillStyle = chart.hatch ??= hatched(context, view.colours.line);
    if (to > from) context.fillRect(from, y, Math.max(1, to - from), high);
}

/* Time in calls by class in each bin, as a share of the bin of all lanes; bins thinner than a pixel show the fullest. */
function paintDensity(view, numbers, chart, p, y, high, lanes) {
    const { density } = numbers;
    const { width_ns: width } = view.run.time;
    const kinds = view.run.table('calls').class;
    const [from, to] = chart.span();
    const first = Math.floor(from / width),
        count = Math.min(view.run.time.count, Math.ceil(to / width)) - first;
    const sums = new Float64Array(Math.max(0, count) * 8);

    for (let i = density.start[p]; i < density.start[p + 1]; i++) {
        const row = density.rows[i],
            bin = density.cube.t[row] - first;
        if (bin >= 0 && bin < count)
            sums[bin * 8 + (density.cube.class ? density.cube.class[row] : 0)] += density.cube.w[row];
    }
    for (let bin = 0; bin < count; bin++) {
        const x = Math.max(chart.left, Math.round(chart.xOf((first + bin) * width)));
        const wide = Math.max(1, Math.round(chart.xOf((first + bin + 1) * width)) - x);
        paintBin(view, chart.it.context, sums.subarray(bin * 8, bin * 8 + 8), {
            x,
            y,
            wide,
            high,
            scale: high / (width * lanes),
        });
    }
}

/* One bin: regions are the ground, calls stand on it in the order of classes. */
function paintBin(view, context, sums, { x, y, wide, high, scale }) {
    const calls = sums.reduce((all, ns) => all + ns, 0) - sums[0];
    const fill = (up, size, colour) => {
        context.fillStyle = colour;
        context.fillRect(x, up - size, wide, size);
    };

    if (!calls && !sums[0]) return;
    fill(y + high, high, view.colours.surface);
    fill(y + high, Math.min(1, (sums[0] * scale) / high) * high, view.colours.classes[0]);
    const fit = calls * scale > high ? high / calls : Math.max(scale, calls ? 1.5 / calls : 0);
    let up = y + high;
    for (let kind = 1; kind < 8; kind++) {
        fill(up, sums[kind] * fit, view.colours.classes[kind] ?? view.colours.dim);
        up -= sums[kind] * fit;
    }
}

/** The name of a lane: its process, or the thread. */
export function laneName(run, lane) {
    const { process, tid } = run.table('lanes');
    const { program, pid, role } = run.table('processes');
    const row = process[lane];
    const name = role[row] || program[row].slice(program[row].lastIndexOf('/') + 1);
    return tid[lane] === pid[row] ? `${name} ${pid[row]}` : `thread ${tid[lane]}`;
}

/* The time in which the process of a lane lives, as a light ground. */
function paintLaneLife(view, chart, row, y) {
    const { start_ns: born, life_ns: life } = view.run.table('processes');
    const process = view.run.table('lanes').process[row.lane];
    const from = Math.max(chart.left, chart.xOf(born[process]));
    const to = Math.min(chart.it.width, chart.xOf(born[process] + life[process]));

    chart.ground ??= mix(view.colours.line, view.colours.surface, 0.55);
    chart.it.context.fillStyle = chart.ground;
    if (to > from) chart.it.context.fillRect(from, y + 1, to - from, row.high - GAP - row.strip);
}

/* The slices of a lane. Those thinner than a pixel that fall onto a painted one of the same line are left out. */
function paintLane(view, numbers, chart, row, y) {
    const { start_ns: start, dur_ns: dur, depth, c, err } = view.run.table('slices');
    const { class: kinds, is_region: isRegion, name } = view.run.table('calls');
    const { rows, start: starts } = numbers.by_lane;
    const { context, width } = chart.it;
    const [from, to] = chart.span();
    const scale = chart.wide() / (to - from);
    const painted = new Float64Array(16).fill(-1);

    if (row.isFirst) paintName(view, chart, nameOf(view.run, row.p), 4, y + (row.high - GAP) / 2 + 1, true);
    else paintName(view, chart, laneName(view.run, row.lane), 14, y + LINE / 2 + 1, false);
    paintLaneLife(view, chart, row, y);
    for (let i = starts[row.lane]; i < starts[row.lane + 1]; i++) {
        const slice = rows[i];
        if (start[slice] > to || start[slice] + dur[slice] < from) continue;
        const line = lineOf(depth[slice]);
        const x = Math.max(chart.left, chart.left + (start[slice] - from) * scale);
        const end = Math.min(width, chart.left + (start[slice] + dur[slice] - from) * scale);
        if (end - x < 1 && painted[line] >= x - 0.5) continue;
        painted[line] = Math.max(painted[line], Math.max(end, x + 1));
        const fill = isWait(name[c[slice]])
            ? view.colours.classes[WAIT]
            : isRegion[c[slice]]
              ? mix(view.colours.classes[0], view.colours.dim, shadeOf(name[c[slice]], 5) * 0.09)
              : view.colours.classes[kinds[c[slice]]];
        paintSlice(
            view,
            context,
            { x, y: y + 1 + line * LINE, wide: Math.max(1, end - x - (end - x > 3 ? 0.5 : 0)), high: LINE - 2 },
            fill,
            name[c[slice]],
            err[slice] > 0,
            slice === chart.state.cursor,
        );
    }
    paintFlights(view, numbers, chart, row, y);
}

/* Calls without an end go on to where their process is last seen. */
function paintFlights(view, { flights }, chart, row, y) {
    const { context, width } = chart.it;

    for (const { lane, start_ns: start, dur_ns: dur, name } of flights) {
        const x = Math.max(chart.left, chart.xOf(start)),
            end = Math.min(width, chart.xOf(start + dur));
        if (lane !== row.lane || end <= x) continue;
        const place = { x, y: y + 1, wide: Math.max(1, end - x), high: LINE - 2 };
        paintSlice(view, context, place, view.colours.classes[WAIT], name, false, false);
    }
}

function paintSlice(view, context, { x, y, wide, high }, fill, name, isFailed, isCursor) {
    const { colours } = view;
    context.fillStyle = fill;
    context.fillRect(x, y, wide, high);
    if (isFailed) {
        context.fillStyle = colours.bad;
        context.fillRect(x, y + high - 2, wide, 2);
    }
    if (wide > 26) {
        context.fillStyle = inkOn(fill);
        context.fillText(cut(context, name, wide - 6), x + 3, y + high / 2 + 0.5);
    }
    if (isCursor) {
        context.strokeStyle = colours.text;
        context.lineWidth = 2;
        context.strokeRect(x, y, Math.max(2, wide), high);
        context.lineWidth = 1;
    }
}
