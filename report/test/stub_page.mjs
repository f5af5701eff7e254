// SPDX-License-Identifier: MIT
// As much of a browser's page as pictures on a canvas need, for tests without a browser. It counts what is painted.

const painted = { rects: 0, texts: [] };

class Style {
    setProperty(name, value) {
        this[name] = value;
    }
}

class StubNode {
    constructor(name) {
        Object.assign(this, {
            name,
            children: [],
            attributes: {},
            handlers: {},
            style: new Style(),
            isConnected: true,
            scrollTop: 0,
            text: '',
        });
    }

    get clientWidth() {
        return StubNode.width;
    }

    get textContent() {
        return this.text + this.children.map((child) => child.textContent ?? String(child)).join('');
    }

    set textContent(text) {
        this.text = text;
        this.children = [];
    }

    set innerHTML(text) {
        throw new Error(`markup was written: ${text}`);
    }

    append(...children) {
        this.children.push(...children);
    }

    appendChild(child) {
        this.children.push(child);
        return child;
    }

    replaceChildren(...children) {
        this.children = children;
    }

    setAttribute(name, value) {
        this.attributes[name] = value;
    }

    addEventListener(name, handler) {
        this.handlers[name] = handler;
    }

    fire(name, event = {}) {
        this.handlers[name]?.({
            button: 0,
            pointerId: 1,
            type: name,
            preventDefault() {},
            stopPropagation() {},
            ...event,
        });
    }

    getBoundingClientRect() {
        return { left: 0, top: 0, width: 100, height: 30 };
    }

    setPointerCapture() {}

    focus() {
        globalThis.document.activeElement = this;
    }

    getContext() {
        const noop = () => {};
        return new Proxy(
            {
                measureText: (text) => ({ width: 6 * text.length }),
                createPattern: () => '#888',
                fillText: (text) => painted.texts.push(text),
                fillRect: (...numbers) => {
                    painted.rects++;
                    if (!numbers.every(Number.isFinite)) throw new Error(`a rectangle at ${numbers}`);
                },
            },
            { get: (object, key) => object[key] ?? noop },
        );
    }

    *all(name) {
        if (this.name === name) yield this;
        for (const child of this.children) if (child instanceof StubNode) yield* child.all(name);
    }
}

/** Puts the page in place; elements are WIDTH wide. Returns an element, and what is painted from now on. */
export function stubPage(width) {
    StubNode.width = width;
    const body = new StubNode('body');
    Object.assign(globalThis, {
        Node: StubNode,
        innerWidth: width,
        innerHeight: 900,
        window: { devicePixelRatio: 2 },
        document: { createElement: (name) => new StubNode(name), body, activeElement: null },
        requestAnimationFrame: (paint) => paint(),
        ImageData: class {
            constructor(wide, high) {
                this.data = new Uint8ClampedArray(4 * wide * high);
            }
        },
    });
    painted.rects = 0;
    painted.texts = [];
    return { host: body.appendChild(new StubNode('div')), painted };
}

/** Colours as the page has them. */
export const colours = {
    classes: ['#cccccc', '#0072b2', '#e69f00', '#c4629a', '#009e73', '#8595a8', '#9a7b52'],
    text: '#000000',
    dim: '#555555',
    faint: '#999999',
    line: '#dddddd',
    surface: '#ffffff',
    page: '#eeeeee',
    accent: '#0b62a8',
    bad: '#b3261e',
    compute: '#009e73',
    hidden: '#56b4e9',
    exposed: '#d55e00',
    idle: '#dddddd',
    font: '11px sans',
    isDark: false,
    heat: Array.from({ length: 256 }, (_, i) => [i, i, i]),
};
