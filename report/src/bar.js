// SPDX-License-Identifier: MIT
// What stands at the top: what is looked at, what is chosen, the theme, help, and the state of a live page.

import { el, tipOn } from './draw.js';
import { DIMS, dimName, everything, isEmpty, keyText } from './filter.js';
import * as format from './format.js';
import { isInLink } from './link.js';
import { jobsOf, stateOfRun } from './run_state.js';

/** More values of a dimension than these are one chip. */
const MOST_CHIPS = 3;

const HELP = [
    ['click', 'choose a row, a bar, a name of a legend: all pictures show it alone. Once more frees it'],
    ['shift click', 'choose it as well'],
    ['drag', 'choose a time, on each axis of time; on the timeline with shift'],
    ['double click', 'choose all times again'],
    ['Esc', 'choose all again'],
    ['Tab', 'go to the next thing to choose'],
    ['arrows', 'move in a table, or the cursor of a picture; with shift open a range, which Enter chooses'],
    ['j  k', 'go to the next card, the one before'],
    ['/', 'search in a table'],
    ['t', 'dark or light'],
    ['p', 'pause a live page'],
    ['?', 'this help'],
];

function preferred() {
    return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}

/* How RUN ended, and what it is in; a sentence is cut, and whole where the pointer is. */
function stateBadge(run) {
    const { state, text, whole: ends = text } = stateOfRun(run);
    const whole = [run.name, ends, run.in_flight].filter(Boolean).map(format.safe).join('; ');
    const flight = run.in_flight && run.summary.verdict?.level !== 'in-flight' ? `, ${run.in_flight}` : '';

    return el('span', { class: `state is-${state}`, title: whole }, format.cut(text + flight, 90));
}

/** What RUN is called in the header: its command without the folder of the program; of many jobs how many. */
export function titleOf(run) {
    const jobs = jobsOf(run).length;

    return jobs > 1 ? format.counted(jobs, 'job') : run.title.replace(/^\/\S*\/(?=[^\s/])/, '');
}

export class Bar {
    constructor(page) {
        this.page = page;
        this.title = el('span', { class: 'title' });
        this.states = el('span', { class: 'states' });
        this.facts = el('span', { class: 'facts' });
        this.live = el('span', { class: 'tools' });
        this.theme = el('button', { type: 'button', title: 't', onclick: () => this.turnTheme() });
        this.chips = el('div', { class: 'filter', role: 'region', 'aria-label': 'what is chosen' });
        this.node = el(
            'header',
            { class: 'top' },
            el(
                'div',
                { class: 'bar' },
                el('span', { class: 'brand' }, 'dftrace'),
                this.title,
                this.states,
                this.facts,
                el('span', { class: 'spring' }),
                this.live,
                el(
                    'span',
                    { class: 'tools' },
                    this.theme,
                    el('button', { type: 'button', 'aria-label': 'help', title: '?', onclick: () => this.help() }, '?'),
                ),
            ),
            this.chips,
        );
        this.setTheme(preferred());
        matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
            this.setTheme(preferred());
            this.page.refresh();
        });
    }

    setTheme(theme) {
        document.documentElement.dataset.theme = theme;
        this.theme.textContent = theme === 'dark' ? 'light' : 'dark';
        this.theme.setAttribute('aria-label', `${this.theme.textContent} colours`);
    }

    turnTheme() {
        this.setTheme(document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark');
        this.page.refresh();
    }

    showLive(nodes) {
        if (!this.live.contains(nodes[0])) this.live.replaceChildren(...nodes);
    }

    draw({ runs, made }, filter) {
        const titles = runs.map((run) => (run.name ? `${run.name}  ` : '') + format.cut(titleOf(run), 90));

        this.title.textContent = titles.join('   against   ');
        this.title.title = runs.map((run) => format.safe(run.title)).join('\n');
        const times = runs.map((run) => format.ns(run.wall_ns)).join(' and ');
        this.facts.replaceChildren(
            times,
            el('span', { class: 'from' }, `, from ${format.moment(runs[0].base_ns, runs[0].start_ns)}`),
        );
        this.states.replaceChildren(...runs.map(stateBadge));
        this.facts.title = made ? `page made ${format.safe(made)}` : '';
        this.drawChips(runs[0], filter);
    }

    drawChips(run, filter) {
        if (isEmpty(filter)) {
            this.chips.replaceChildren(
                el(
                    'span',
                    {},
                    'All calls. Click a bar, a row or a name, or drag over a time, to choose; ',
                    el('kbd', {}, '?'),
                    ' for more.',
                ),
            );
            return;
        }
        this.chips.replaceChildren(
            'Only',
            ...DIMS.flatMap((dim) => this.chipsOf(run, dim, filter)),
            el('button', { type: 'button', onclick: () => this.page.setFilter(everything()) }, 'all again'),
        );
    }

    chipsOf(run, dim, filter) {
        if (dim === 't')
            return filter.t
                ? [
                      this.chip('time', filter.t.map((ns) => format.at(Math.max(0, ns))).join(' to '), () =>
                          this.page.free('t'),
                      ),
                  ]
                : [];
        const keys = [...filter[dim]];
        if (keys.length > MOST_CHIPS)
            return [
                this.chip(
                    '',
                    format.counted(keys.length, dimName(run, dim), dimName(run, dim)),
                    () => this.page.free(dim),
                    keys.map((key) => keyText(dim, key)),
                    keys,
                ),
            ];
        const word = { p: run.who === 'process' ? 'process' : 'rank', c: 'calls', g: 'region', f: 'file' }[dim];
        return keys.map((key) => {
            const text = keyText(dim, key);
            return this.chip(text.startsWith(`${word} `) ? '' : word, text, () => this.page.free(dim, key));
        });
    }

    /* ALL: values as people read them; KEYS: the same as the filter has them. */
    chip(word, text, free, all = [text], keys = []) {
        const node = el(
            'button',
            {
                type: 'button',
                class: 'chip',
                'aria-label': `free ${word} ${format.cut(text, 80)}`,
                onclick: free,
            },
            el('span', {}, word ? el('b', {}, word + ' ') : null, format.path(text, 48)),
        );

        return tipOn(node, () => [
            ...all.slice(0, 12).map((line) => format.safe(line)),
            all.length > 12 ? `and ${format.count(all.length - 12)} more` : null,
            isInLink(new Set(keys)) ? null : 'these are too many to stand in the link',
        ]);
    }

    help() {
        const dialog = el(
            'dialog',
            { 'aria-label': 'help' },
            el('h2', {}, 'Keys, and what the pointer does'),
            el('dl', {}, ...HELP.flatMap(([key, text]) => [el('dt', {}, el('kbd', {}, key)), el('dd', {}, text)])),
            el(
                'p',
                { class: 'dim' },
                'Each picture is exact for the filter that it names. What does not apply to it is said below it.',
            ),
            el('p', {}, el('button', { type: 'button', autofocus: true, onclick: () => dialog.close() }, 'close')),
        );

        dialog.addEventListener('close', () => dialog.remove());
        document.body.append(dialog);
        dialog.showModal();
    }
}
