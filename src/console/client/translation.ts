import { options, type VNode } from 'preact';

/** What a browser must not translate: times, ids, numbers, code. As a property, because `translate` is a boolean of an element. */
const VALUES = new Set<unknown>(['code', 'pre', 'time', 'samp', 'ins', 'del', 'svg']);

/** Marks the values of all pages, before the first is drawn. */
export function markValues(): void {
  options.vnode = (vnode) => {
    if (VALUES.has(vnode.type)) {
      (vnode as VNode<{ translate?: unknown }>).props.translate = vnode.type === 'svg' ? 'no' : false;
    }
  };
}

/**
 * A browser that translates a page takes its texts out of the document and puts `font` elements in their places. Preact knows
 * nothing of them: it would change, move and remove texts that nobody sees. Here a text that was taken out returns to its place
 * when Preact writes to it or asks where it is; the browser then translates it again.
 */
export function followTranslation(root: Node): void {
  new MutationObserver((records) => {
    for (const record of records) {
      const place = placeIn(record, records);
      if (place === undefined) continue;
      for (const node of record.removedNodes) if (node instanceof Text && !node.isConnected) returnTo(node, place);
    }
  }).observe(root, { childList: true, subtree: true });
}

const isFont = (node: Node | null): node is HTMLElement => node instanceof HTMLElement && node.tagName === 'FONT';

/** The element that came for what was removed: in the same step, in the one before, or in a later one. */
function placeIn(removed: MutationRecord, records: readonly MutationRecord[]): HTMLElement | undefined {
  if (removed.removedNodes.length === 0) return undefined;
  const { addedNodes, previousSibling, nextSibling, target } = removed;
  const later = records.filter((each) => each.target === target && each.nextSibling === nextSibling);
  return [...addedNodes, previousSibling, nextSibling, ...later.flatMap((each) => [...each.addedNodes])].find(isFont);
}

function returnTo(text: Text, place: HTMLElement): void {
  const restore = () => {
    for (const name of ['data', 'parentNode', 'nextSibling'] as const) Reflect.deleteProperty(text, name);
    if (place.isConnected && !text.isConnected) place.replaceWith(text);
  };
  Object.defineProperties(text, {
    data: {
      configurable: true,
      get: () => text.nodeValue,
      set(value: string) {
        restore();
        text.nodeValue = value;
      },
    },
    parentNode: {
      configurable: true,
      get() {
        restore();
        return text.parentNode;
      },
    },
    nextSibling: {
      configurable: true,
      get() {
        if (place.isConnected && !text.isConnected) return place.nextSibling;
        restore();
        return text.nextSibling;
      },
    },
  });
}
