const FOCUSABLE = ':enabled, a[href], summary, [tabindex]';

/**
 * What has the focus may vanish or be disabled: a button makes way for its question, a list for a record. The focus goes to what took
 * its place, else to the part of the page around it. A button that is disabled while its call runs gets it back.
 */
export function keepFocus(): void {
  let path: readonly Element[] = [];
  addEventListener('focusin', (event) => (path = event.composedPath().filter((each) => each instanceof Element)));
  addEventListener('pointerdown', () => (path = []), true);
  new MutationObserver((changes) => {
    const place = path.find(({ isConnected }) => isConnected);
    // The browser itself may have it.
    if (place === undefined || document.activeElement !== document.body || !document.hasFocus()) return;
    const added = changes
      .flatMap(({ addedNodes }) => [...addedNodes])
      .find((each) => each instanceof Element && place.contains(each)) as Element | undefined;
    const next = added?.matches(FOCUSABLE) === true ? added : added?.querySelector(FOCUSABLE);
    if (place === path[0]) (place as HTMLElement).focus();
    else focusOn((place.matches('main') ? undefined : next) ?? place.closest('section, form, [tabindex]'));
  }).observe(document.body, { childList: true, subtree: true, attributeFilter: ['disabled'] });
}

/** Also on a part of the page that is no place for the Tab key. */
export function focusOn(element: Element | null): void {
  if (!(element instanceof HTMLElement)) return;
  if (!element.matches(FOCUSABLE)) element.tabIndex = -1;
  element.focus();
}
