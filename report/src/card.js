// SPDX-License-Identifier: MIT
// One card of the page: heading, sentence, the picture of each run, and the line that says how complete its data are.

import { el, hideTip } from './draw.js';
import { dimNames } from './filter.js';
import * as format from './format.js';

/* Why PICTURE cannot be drawn of RUN, or null. */
function lack(picture, run) {
    return picture.lacks?.(run) ?? null;
}

/* What the line below a picture says: filters that do not apply, and what its data lack. */
function footOf(picture, view) {
    const numbers = view.numbers(picture);
    const ignored = numbers?.ignored ?? [];
    const lacks =
        picture.completeness?.(view, numbers) ||
        (view.run.is_complete ? '' : 'some calls are not here, see "What is not here"');

    return [
        ignored.length
            ? el('span', { class: 'ignored' }, `not filtered by ${dimNames(view.run, ignored)}${lacks ? '; ' : ''}`)
            : null,
        format.safe(lacks),
    ];
}

/** The card of PICTURE. It draws when it is asked to, and then only if something changed. */
export class Card {
    constructor(picture) {
        this.picture = picture;
        this.isStale = true;
        this.isSeen = false;
        this.cleaners = [];
        this.sentence = el('p', { class: 'sentence' });
        this.runs = el('div', { class: 'runs' });
        this.foot = el('div', { class: 'foot' });
        this.node = el(
            'section',
            {
                class: 'card' + (picture.is_narrow ? ' is-narrow' : ''),
                id: picture.id,
                'aria-labelledby': `${picture.id}-title`,
            },
            el(
                'h2',
                { id: `${picture.id}-title` },
                el('a', { href: `#${picture.id}`, 'data-place': picture.id }, picture.title),
            ),
            this.sentence,
            this.runs,
            this.foot,
        );
        this.runs.style.minHeight = '120px';
    }

    /** Draws VIEWS, one for each run. */
    draw(views) {
        const height = this.runs.offsetHeight,
            focus = this.focusPlace();

        this.isStale = false;
        hideTip();
        this.cleaners.splice(0).forEach((clean) => clean());
        if (height) this.runs.style.minHeight = height + 'px';
        this.drawSentence(views);
        const shown = this.picture.is_together ? views.slice(-1) : views;
        this.runs.classList.toggle('is-two', shown.length > 1);
        this.runs.classList.toggle('is-stacked', !!this.picture.is_stacked);
        this.runs.replaceChildren(...shown.map(() => el('div', { class: 'run' })));
        shown.forEach((view, i) => this.drawRun(this.runs.children[i], view, shown.length > 1));
        this.foot.replaceChildren(...this.footLine(views));
        this.runs.style.minHeight = '';
        this.refocus(focus);
    }

    drawSentence(views) {
        const lines = views
            .filter((view) => !lack(this.picture, view.run))
            .map((view) => [view, this.picture.sentence?.(view, view.numbers(this.picture))]);
        const named = this.picture.is_together ? lines.slice(-1) : lines;

        this.sentence.hidden = !named.some(([, text]) => text);
        this.sentence.replaceChildren(
            ...named.flatMap(([view, text], i) =>
                [
                    i ? el('br') : null,
                    named.length > 1 && view.run.name ? el('b', {}, format.safe(view.run.name) + '  ') : null,
                    format.safe(text),
                ].filter(Boolean),
            ),
        );
    }

    drawRun(host, view, isNamed) {
        const missing = lack(this.picture, view.run);
        const plot = el('div', { class: 'plot' });

        if (isNamed)
            host.append(
                el(
                    'div',
                    { class: 'run-name', title: format.safe(view.run.title) },
                    el('b', {}, format.cut(view.run.name, 12)),
                    format.cut(view.run.title, 80),
                ),
            );
        host.append(plot);
        if (missing) plot.append(el('p', { class: 'lacks' }, missing));
        else this.cleaners.push(this.picture.draw(plot, view, view.numbers(this.picture)) ?? (() => {}));
    }

    footLine(views) {
        const shown = views.filter((view) => !lack(this.picture, view.run));
        const lines = shown.map((view) => footOf(this.picture, view));
        const texts = new Set(lines.map((line) => (line[0]?.textContent ?? '') + line[1]));

        if (texts.size <= 1) return (lines[0] ?? []).filter(Boolean);
        return lines.flatMap((line, i) =>
            line.some(Boolean)
                ? [i ? el('br') : null, `${format.safe(shown[i].run.name)}: `, ...line].filter(Boolean)
                : [],
        );
    }

    /* Which of the things that can have the focus has it, so that it stays there when the card is drawn anew. */
    focusPlace() {
        return this.runs.contains(document.activeElement) ? this.focusable().indexOf(document.activeElement) : -1;
    }

    refocus(place) {
        if (place >= 0) this.focusable()[place]?.focus({ preventScroll: true });
    }

    focusable() {
        return [...this.runs.querySelectorAll('button, input, a[href], [tabindex]')];
    }
}
