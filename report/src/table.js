// SPDX-License-Identifier: MIT
// Tables that are sorted, searched and copied as CSV. Only rows that can be seen are in the document.

import { el, onPaper, paper, showTip, hideTip } from './draw.js';
import * as format from './format.js';

const ROW = 26,
    AROUND = 12,
    ON_PAPER = 30;

/* A table of fewer pixels leaves out its minor columns. */
const NARROW = 560;

/* About as wide is a letter, in pixels. */
const LETTER = 6.7;

/* What a reader did to a table stays when the table is drawn anew: by the table's key. */
const states = new Map();

function cell(text) {
    const plain = String(text ?? '');
    const quiet = /^[=+\-@\t\r]/.test(plain) ? "'" + plain : plain;

    return /[",\n\r]/.test(quiet) ? `"${quiet.replaceAll('"', '""')}"` : quiet;
}

/** ROWS of COLUMNS as CSV. Texts that a spreadsheet would take for formulas get an apostrophe. */
export function csv(columns, rows) {
    const line = (row) =>
        columns
            .map((column) => {
                const value = column.value(row);
                return typeof value === 'number' ? (Number.isFinite(value) ? String(value) : '') : cell(value);
            })
            .join(',');

    return [columns.map((column) => cell(column.csv ?? column.title)).join(','), ...rows.map(line)].join('\n') + '\n';
}

async function copy(text, button) {
    const title = button.textContent;

    try {
        await navigator.clipboard.writeText(text);
    } catch {
        const area = document.body.appendChild(el('textarea', { style: { position: 'fixed', top: '-99px' } }));
        area.value = text;
        area.select();
        document.execCommand('copy');
        area.remove();
    }
    button.textContent = 'copied';
    setTimeout(() => {
        button.textContent = title;
    }, 1200);
}

const widthOf = (columns) => columns.reduce((sum, column) => sum + (column.width ?? 80), 0);

/* Whether minor columns have no room. Paper does not scroll sideways, a screen does. */
const isNarrow = (host, { columns }) => host.clientWidth < (paper.isOn ? Math.max(NARROW, widthOf(columns)) : NARROW);

const collator = new Intl.Collator('en', { numeric: true });

/** The order of ROWS by COLUMN: numbers that are not known go last. */
export function sorted(rows, column, isDown) {
    const values = rows.map((row) => (column.order ?? column.value)(row) ?? NaN);
    const sign = isDown ? -1 : 1;
    const compare = (a, b) => {
        const x = values[a],
            y = values[b];
        if (typeof x === 'string' || typeof y === 'string') return sign * collator.compare(String(x), String(y));
        const isX = Number.isFinite(x),
            isY = Number.isFinite(y);
        return isX && isY ? sign * (x - y) : +isY - +isX;
    };

    return rows
        .map((_, i) => i)
        .sort((a, b) => compare(a, b) || a - b)
        .map((i) => rows[i]);
}

/**
 * A table in HOST. SPEC: `key`, by which its order and search are remembered; `rows`, numbers; `sort`, the title of the
 * column that orders them; `is_chosen(row)`, `choose(row, add)`; `extra`, more controls; `label`, what a screen reader
 * says; `columns`, of which the first is searched: `{title, value(row), text(row, letters), width, is_number,
 * share(row), colour(row), tip(row), csv, css(row), is_minor, help, order(row)}`: `order` sorts in place of `value`.
 */
export class Table {
    constructor(host, spec) {
        this.spec = spec;
        this.state = states.get(spec.key) ?? { sort: spec.sort, isDown: true, search: '', top: 0 };
        states.set(spec.key, this.state);
        this.at = -1;
        this.columns = isNarrow(host, spec) ? spec.columns.filter((column) => !column.is_minor) : spec.columns;
        this.rest = widthOf(this.columns.slice(1));
        this.body = el('tbody');
        this.note = el('span', { class: 'dim' });
        this.box = el(
            'div',
            {
                class: 'table',
                tabindex: 0,
                role: 'region',
                'aria-label': spec.label ?? 'table',
                onkeydown: (event) => this.key(event),
            },
            this.table(),
        );
        this.box.addEventListener('scroll', () => this.scrolled(), { passive: true });
        host.append(this.controls(), this.box);
        if (paper.isOn && spec.rows.length > ON_PAPER) host.append(onPaper(ON_PAPER, spec.rows.length));
        this.letters = Math.floor((Math.max(this.leastOfFirst(), this.box.clientWidth - this.rest) - 18) / LETTER);
        this.order();
        this.box.scrollTop = this.state.top;
        this.render();
    }

    controls() {
        const search = el('input', {
            type: 'search',
            placeholder: `search ${this.spec.columns[0].title}`,
            'aria-label': `search ${this.spec.columns[0].title}`,
            oninput: (event) => this.search(event.target.value),
        });
        const button = el(
            'button',
            { type: 'button', onclick: () => copy(csv(this.spec.columns, this.rows), button) },
            'copy as CSV',
        );

        search.value = this.state.search;
        return el('div', { class: 'controls' }, search, ...(this.spec.extra ?? []), button, this.note);
    }

    table() {
        const { columns } = this;
        this.heads = columns.map((column) =>
            el(
                'th',
                { class: column.is_number ? 'is-number' : null, scope: 'col' },
                el(
                    'button',
                    {
                        type: 'button',
                        title: column.help ?? null,
                        'aria-label': column.title ? null : (column.csv ?? 'share'),
                        onclick: () => this.sortBy(column),
                    },
                    column.title,
                ),
            ),
        );
        const least = this.leastOfFirst();
        const cols = columns.map((column, i) => el('col', { style: i ? { width: (column.width ?? 80) + 'px' } : {} }));

        return el(
            'table',
            { style: { width: `max(100%, ${this.rest + least}px)` } },
            el('colgroup', {}, ...cols),
            el('thead', {}, el('tr', {}, ...this.heads)),
            this.body,
        );
    }

    leastOfFirst() {
        return Math.min(this.columns[0].width ?? 200, this.columns === this.spec.columns ? 150 : 120);
    }

    sortBy(column) {
        this.state.isDown = this.state.sort === column.title ? !this.state.isDown : column.is_number;
        this.state.sort = column.title;
        this.again();
    }

    search(text) {
        this.state.search = text;
        this.again();
    }

    again() {
        this.order();
        this.box.scrollTop = 0;
        this.render();
    }

    order() {
        const { columns } = this,
            { rows } = this.spec;
        const column =
            columns.find((one) => one.title === this.state.sort) ?? columns.find((one) => one.is_number) ?? columns[0];
        const wanted = this.state.search.toLowerCase();
        const found = wanted
            ? rows.filter((row) => String(columns[0].value(row)).toLowerCase().includes(wanted))
            : rows;

        this.rows = sorted(found, column, this.state.isDown);
        this.at = -1;
        columns.forEach((one, i) => {
            if (one === column) this.heads[i].setAttribute('aria-sort', this.state.isDown ? 'descending' : 'ascending');
            else this.heads[i].removeAttribute('aria-sort');
            this.heads[i].firstChild.textContent =
                one.title + (one === column ? (this.state.isDown ? ' \u2193' : ' \u2191') : '');
        });
        this.note.textContent = wanted
            ? `${format.count(found.length)} of ${format.counted(rows.length, 'row')}`
            : format.counted(rows.length, 'row');
    }

    scrolled() {
        if (!paper.isOn) this.state.top = this.box.scrollTop;
        this.render();
    }

    /* The rows that can be seen, between two gaps as high as those that cannot. */
    render() {
        const count = this.rows.length,
            seen = Math.ceil((this.box.clientHeight || 420) / ROW);
        const from = paper.isOn ? 0 : Math.max(0, Math.min(count, Math.floor(this.box.scrollTop / ROW)) - AROUND),
            to = Math.min(count, paper.isOn ? ON_PAPER : from + seen + 2 * AROUND);

        if (
            this.shown &&
            this.shown.from === from &&
            this.shown.to === to &&
            this.shown.rows === this.rows &&
            this.shown.at === this.at
        )
            return;
        this.shown = { from, to, rows: this.rows, at: this.at };
        const gap = (rows) =>
            rows > 0 && !paper.isOn
                ? [
                      el(
                          'tr',
                          { class: 'is-gap', 'aria-hidden': 'true' },
                          el('td', { colspan: this.columns.length, style: { height: rows * ROW + 'px' } }),
                      ),
                  ]
                : [];
        this.body.replaceChildren(
            ...gap(from),
            ...this.rows.slice(from, to).map((row, i) => this.row(row, from + i)),
            ...gap(count - to),
        );
    }

    row(row, at) {
        const { columns } = this,
            { is_chosen: isChosen, choose } = this.spec;

        return el(
            'tr',
            {
                class: at === this.at ? 'is-at' : null,
                'aria-selected': isChosen ? String(!!isChosen(row)) : null,
                onclick: choose ? (event) => choose(row, event.shiftKey) : null,
            },
            ...columns.map((column) => this.cell(row, column)),
        );
    }

    cell(row, column) {
        const css = [column.is_number ? 'is-number' : '', column.css?.(row) ?? ''].join(' ').trim();

        if (column.share) {
            const share = column.share(row);
            return el(
                'td',
                {},
                el(
                    'span',
                    { class: 'meter' },
                    el('i', {
                        style: { width: `${Math.min(100, 100 * (share || 0))}%`, background: column.colour?.(row) },
                    }),
                ),
            );
        }
        const text = column.text ? column.text(row, this.letters) : format.safe(column.value(row));
        const node = el('td', { class: css || null }, text);
        if (column.tip) {
            node.addEventListener('pointermove', (event) => showTip(event, column.tip(row)));
            node.addEventListener('pointerleave', hideTip);
        }
        return node;
    }

    key(event) {
        const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 14, PageUp: -14, Home: -Infinity, End: Infinity }[
            event.key
        ];

        if (event.target !== this.box) return;
        if (step !== undefined && this.rows.length) {
            this.at = Math.min(this.rows.length - 1, Math.max(0, this.at + step));
            const top = this.at * ROW,
                view = this.box.clientHeight - 2 * ROW;
            this.box.scrollTop = Math.max(top - view + ROW, Math.min(this.box.scrollTop, top));
            this.render();
            event.preventDefault();
        } else if (event.key === 'Enter' && this.at >= 0) {
            this.spec.choose?.(this.rows[this.at], event.shiftKey);
        }
    }
}

/** Buttons of which one is pressed: OPTIONS are [[value, text]]; `then(value)` when another one is. */
export function switcher(options, value, then) {
    return el(
        'span',
        { class: 'group', role: 'group' },
        ...options.map(([name, text]) =>
            el(
                'button',
                {
                    type: 'button',
                    'aria-pressed': String(name === value),
                    onclick: () => name !== value && then(name),
                },
                text,
            ),
        ),
    );
}
