// SPDX-License-Identifier: MIT
// Rows of one height on a canvas that scrolls: a cursor for keys, a tooltip and a choice for each row.

import { stage } from './canvas.js';

/**
 * A list in HOST of COUNT rows of HIGH pixels, MOST of them seen. OPTIONS: label, state, font, edge (the cursor's colour),
 * paintRow(stage, i, y), tipOf(i), choose(i, add).
 */
export function list(host, { count, high, most, state, font, edge, ...options }) {
    let it = null;
    const rowAt = (y) => {
        const i = Math.floor((y + it.top) / high);
        return i < count ? i : -1;
    };
    const steps = { ArrowUp: -1, ArrowDown: 1, PageUp: -most, PageDown: most, Home: -count, End: count };
    const go = (by) => {
        state.row = Math.max(0, Math.min(count - 1, (state.row ?? -1) + by));
        if (state.row * high < it.top || (state.row + 1) * high > it.top + it.height)
            it.box.scrollTop = (state.row - most / 2) * high;
        it.repaint();
        return true;
    };

    stage(host, {
        label: options.label,
        height: Math.min(count, most) * high,
        total: count * high,
        rows: (height) => [Math.floor(height / high), count],
        state,
        paint: (now) => {
            it = now;
            it.context.font = font;
            for (let i = Math.floor(it.top / high); i < Math.min(count, (it.top + it.height) / high); i++) {
                options.paintRow(it, i, i * high - it.top);
                if (i === state.row && document.activeElement === it.canvas) {
                    it.context.strokeStyle = edge;
                    it.context.strokeRect(0.5, i * high - it.top + 0.5, it.width - 1, high - 1);
                }
            }
        },
        move: (x, y) => it.tip(x, y, rowAt(y) < 0 ? null : options.tipOf(rowAt(y))),
        click: (x, y, event) => {
            if (rowAt(y) >= 0) options.choose(rowAt(y), event.shiftKey);
        },
        key: (event) => {
            if (steps[event.key]) return go(steps[event.key]);
            if (event.key === 'Enter' && state.row < count) options.choose(state.row, event.shiftKey);
            return event.key === 'Enter';
        },
    });
}
