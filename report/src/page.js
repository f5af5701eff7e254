// SPDX-License-Identifier: MIT
// The page: its cards, what is chosen, links to places, keys. Draws what can be seen, and only when it changed.

import { Bar } from './bar.js';
import { Card } from './card.js';
import { colours, el, hideTip, paper } from './draw.js';
import { DIMS, changed, everything, isEmpty } from './filter.js';
import * as format from './format.js';
import { fromHash, toHash } from './link.js';
import { View } from './model.js';
import { inOrder } from './pictures/index.js';
import { isShown } from './pictures/parts.js';
import { stateOfRun } from './run_state.js';

const REDRAW_AFTER_MS = 120,
    HOLD_MS = 800;

export class Page {
    constructor(root, data) {
        const place = fromHash(location.hash);

        this.all = inOrder(data.runs.at(-1)).map((picture) => new Card(picture));
        this.cards = [];
        this.byNode = new Map(this.all.map((card) => [card.node, card]));
        this.filter = place.filter;
        this.place = place.id || null;
        this.bar = new Bar(this);
        this.nav = el('nav', { class: 'nav', 'aria-label': 'pictures' });
        this.main = el('main', { class: 'cards' });
        root.replaceChildren(this.bar.node, el('div', { class: 'frame' }, this.nav, this.main));
        this.listen();
        this.replace(data);
        if (this.place) this.show(this.place);
    }

    /** Shows other data: filter and place stay. */
    replace(data) {
        this.data = data;
        document.title = `${data.runs.map((run) => format.cut(run.title, 60)).join(' and ')} - dftrace`;
        this.placeCards();
        this.refresh();
    }

    /* Cards of pictures that say something of these data. Their order is that of the first ones: a reader is at it. */
    placeCards() {
        const cards = this.all.filter(({ picture }) => isShown(picture, this.data.runs));
        const narrow = cards.filter(({ picture }) => picture.is_narrow);

        if (cards.length === this.cards.length && cards.every((card, i) => card === this.cards[i])) return;
        this.cards = cards;
        for (const { node } of narrow) node.classList.toggle('is-narrow', narrow.length > 1);
        this.main.replaceChildren(...cards.map(({ node }) => node));
        this.nav.replaceChildren(
            ...cards.map(({ picture: { id, title } }) => el('a', { href: `#${id}`, 'data-place': id }, title)),
        );
    }

    /* Views of the runs under the filter, and all cards to be drawn anew. */
    refresh() {
        const shades = colours();

        clearTimeout(this.waiting);
        this.waiting = null;
        this.views = this.data.runs.map(
            (run, i) =>
                new View(run, this.filter, {
                    colours: shades,
                    select: (change, add) => this.select(i, change, add),
                }),
        );
        if (this.views.length === 2) {
            this.views[0].base = this.views[1];
            this.views[1].base = this.views[0];
        }
        this.views.forEach((view, i) => {
            view.isFirst = i === 0;
            view.go = (id) => this.show(id);
        });
        this.cards.forEach((card) => {
            card.isStale = true;
        });
        this.hold(this.anchor());
        this.inPlace(() => {
            this.bar.draw(this.data, this.filter);
            this.drawSeen();
        });
    }

    hold(node) {
        clearTimeout(this.holding);
        this.held = node;
        this.holding = setTimeout(() => (this.held = null), HOLD_MS);
    }

    /* Does ACT while the card that a reader is at stays where it is: cards above it get higher or lower. */
    inPlace(act) {
        const at = this.anchor(),
            before = at?.getBoundingClientRect().top;

        act();
        if (!at || scrollY <= 0) return;
        const by = at.getBoundingClientRect().top - before;
        if (Math.abs(by) >= 1) scrollBy({ top: by, behavior: 'instant' });
    }

    /*
     * The card that has the focus, or the pointer, and is seen; else the one that is looked at. It is held for a while:
     * what is drawn soon after moves others under the pointer.
     */
    anchor() {
        const isSeen = (node) => {
            const box = node?.getBoundingClientRect();
            return !!box && box.bottom > 0 && box.top < innerHeight;
        };
        const focused = document.activeElement?.closest?.('.card'),
            hovered = document.querySelector('.card:hover');

        return [this.held, focused, hovered, this.cards.find((card) => card.isAt)?.node].find(isSeen) ?? null;
    }

    select(run, change, add) {
        this.setFilter(changed(this.filter, this.data.runs[run], change, add));
    }

    setFilter(filter) {
        this.filter = filter;
        this.refresh();
        this.writeHash();
    }

    /** Takes KEY of dimension DIM out of the filter; all of DIM without KEY. */
    free(dim, key) {
        const rest = new Set(this.filter[dim]);

        rest.delete(key);
        this.setFilter({ ...this.filter, [dim]: dim === 't' ? null : key === undefined ? new Set() : rest });
    }

    writeHash() {
        const hash = toHash(this.place, this.filter);

        if (hash === location.hash) return;
        try {
            history.replaceState(null, '', hash || location.pathname + location.search);
        } catch {
            /* A page without an address of its own has no links. */
        }
    }

    drawSeen() {
        for (const card of this.cards) if (card.isStale && card.isSeen) this.drawCard(card);
    }

    drawCard(card) {
        try {
            card.draw(this.views);
        } catch (error) {
            card.runs.replaceChildren(el('p', { class: 'lacks' }, `This picture cannot be drawn: ${error.message}`));
            console.error(error);
        }
    }

    /** Scrolls to the card ID, with all above it drawn, so that it does not move later. */
    show(id) {
        const at = this.cards.findIndex((card) => card.picture.id === id);

        if (at < 0) return;
        this.place = id;
        this.hold(this.cards[at].node);
        for (const card of this.cards.slice(0, at + 2)) if (card.isStale) this.drawCard(card);
        this.cards[at].node.scrollIntoView({ block: 'start' });
        this.writeHash();
    }

    /** The numbers of picture ID, one for each run. */
    numbers(id) {
        const picture = this.all.find((card) => card.picture.id === id)?.picture;

        return picture ? this.views.map((view) => (picture.lacks?.(view.run) ? null : view.numbers(picture))) : [];
    }

    filterTexts() {
        return Object.fromEntries(DIMS.map((dim) => [dim, dim === 't' ? this.filter.t : [...this.filter[dim]]]));
    }

    /** Whether a run goes on. */
    isRunning() {
        return this.data.runs.some((run) => stateOfRun(run).state === 'running');
    }

    /** Shows what LIVE says in the bar. */
    showLive(...nodes) {
        this.bar.showLive(nodes);
    }

    listen() {
        const seen = new IntersectionObserver(
            (entries) => {
                for (const entry of entries) this.byNode.get(entry.target).isSeen = entry.isIntersecting;
                this.inPlace(() => this.drawSeen());
            },
            { rootMargin: '300px 0px' },
        );
        const place = new IntersectionObserver(
            (entries) => {
                for (const entry of entries) this.byNode.get(entry.target).isAt = entry.isIntersecting;
                this.markPlace();
            },
            { rootMargin: '-100px 0px -60% 0px' },
        );
        let width = 0;

        for (const card of this.all) {
            seen.observe(card.node);
            place.observe(card.node);
        }
        new ResizeObserver(([entry]) => {
            if (width && Math.abs(width - entry.contentRect.width) > 1) this.redrawSoon();
            width = entry.contentRect.width;
        }).observe(this.main);
        for (const name of ['pointerdown', 'wheel', 'keydown'])
            document.addEventListener(name, () => (this.held = null), { passive: true, capture: true });
        document.addEventListener('click', (event) => this.follow(event));
        document.addEventListener('keydown', (event) => this.key(event));
        window.addEventListener('hashchange', () => this.go(fromHash(location.hash)));
        window.addEventListener('beforeprint', () => this.print(true));
        window.addEventListener('afterprint', () => this.print(false));
        window.addEventListener('scroll', hideTip, { passive: true });
    }

    markPlace() {
        const at = this.cards.find((card) => card.isAt);

        for (const link of this.nav.children)
            link.setAttribute('aria-current', String(link.dataset.place === at?.picture.id));
    }

    redrawSoon() {
        this.waiting ??= setTimeout(() => this.refresh(), REDRAW_AFTER_MS);
    }

    /* A link to a place of the page keeps the filter. */
    follow(event) {
        const place = event.target.closest?.('a[data-place]')?.dataset.place;

        if (place && !event.ctrlKey && !event.metaKey) {
            event.preventDefault();
            this.show(place);
        }
    }

    go({ id, filter }) {
        this.place = id || null;
        this.filter = filter;
        this.refresh();
        if (id) this.show(id);
    }

    print(isStart) {
        const root = document.documentElement;

        paper.isOn = isStart;
        if (isStart) {
            this.theme = root.dataset.theme;
            root.dataset.theme = 'light';
            root.dataset.paper = '';
            this.refresh();
            this.cards.forEach((card) => this.drawCard(card));
        } else {
            root.dataset.theme = this.theme;
            delete root.dataset.paper;
            this.refresh();
        }
    }

    key(event) {
        const inField = event.target.closest?.('input, textarea, select');

        if (event.key === 'Escape') {
            if (inField) event.target.blur();
            else if (!document.querySelector('dialog[open]') && !isEmpty(this.filter)) this.setFilter(everything());
            return;
        }
        if (inField || event.ctrlKey || event.metaKey || event.altKey) return;
        const act = {
            '?': () => this.bar.help(),
            t: () => this.bar.turnTheme(),
            p: () => document.dispatchEvent(new Event('dftrace-pause')),
            j: () => this.step(1),
            k: () => this.step(-1),
            '/': () => this.search(),
        }[event.key];
        if (act) {
            event.preventDefault();
            act();
        }
    }

    step(by) {
        const at = this.cards.findIndex((card) => card.isAt);
        const next = this.cards[Math.min(this.cards.length - 1, Math.max(0, at + by))];

        if (next) this.show(next.picture.id);
    }

    /* The field of the table that is seen, or of the next one below. */
    search() {
        const fields = [...document.querySelectorAll('.card input[type="search"]')];

        (fields.find((field) => field.getBoundingClientRect().top > 90) ?? fields[0])?.focus();
    }
}
