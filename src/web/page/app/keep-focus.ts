/** Keeps the focus: where the element that has it is removed or disabled, the one of the same region that was used last gets it. */

interface Focused {
  readonly element: HTMLElement | SVGElement;
  readonly region: Element | null;
  /** Whether it was pressed, and not only passed by. */
  readonly isUsed: boolean;
}

/** Elements of the page that had the focus, in this order. */
let trail: readonly Focused[] = [];

/** Whether the last element of the trail has the focus, or had it until it was removed. */
let isHeld = false;

/** Without it, a press of a key that removes its own button, such as "Discard", leaves nothing that shows where the user is. */
export function keepFocus(): void {
  addEventListener('focusin', ({ target }) => {
    if (!isElement(target)) return;
    const before = trail.filter(({ element }) => element !== target && element.isConnected);
    const isUsed = trail.some(one => one.element === target && one.isUsed);
    trail = [...before, { element: target, region: target.closest('main, header, .buildbar'), isUsed }];
    isHeld = true;
  });
  // Before the page acts on the press.
  for (const event of ['click', 'keydown'] as const) addEventListener(event, noteUse, { capture: true });
  addEventListener('focusout', ({ target }) => {
    // Also before a removal, which is over then. Of an element that stays, the user went elsewhere.
    setTimeout(() => {
      if (isElement(target) && canHold(target) && !hasFocus()) isHeld = false;
    });
  });
  new MutationObserver(restore).observe(document.body, { childList: true, subtree: true, attributes: true, attributeFilter: ['disabled'] });
}

function noteUse(event: MouseEvent | KeyboardEvent): void {
  if (event instanceof KeyboardEvent && event.key !== 'Enter' && event.key !== ' ') return;
  const last = trail.at(-1);
  if (last?.element === document.activeElement && last !== undefined) trail = [...trail.slice(0, -1), { ...last, isUsed: true }];
}

function restore(): void {
  const last = trail.at(-1);
  if (!isHeld || last === undefined || canHold(last.element) || hasFocus()) return;
  const near = trail.filter(({ element }) => canHold(element) && last.region?.contains(element) === true);
  const before = near.findLast(({ isUsed }) => isUsed) ?? near.at(-1);
  const next = before?.element ?? document.getElementById('main');
  next?.focus({ preventScroll: before !== undefined });
}

function hasFocus(): boolean {
  return document.activeElement !== null && document.activeElement !== document.body;
}

function canHold(element: Element): boolean {
  return element.isConnected && !element.matches(':disabled');
}

function isElement(target: EventTarget | null): target is HTMLElement | SVGElement {
  return target instanceof HTMLElement || target instanceof SVGElement;
}
