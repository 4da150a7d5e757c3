/** Uses a page by the keyboard alone: Tab reaches an element, Enter or Space uses it, and what has the focus can be seen. */
import type { Locator, Page } from 'playwright-core';

/** Presses Tab until the element has the focus. More presses than this are no way to reach it. */
const MOST_TABS = 250;

export async function reach(page: Page, wanted: Locator): Promise<void> {
  await wanted.first().waitFor();
  for (let presses = 0; presses < MOST_TABS; presses++) {
    if (await hasFocus(wanted)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`${MOST_TABS} presses of Tab do not reach ${wanted}`);
}

export async function press(page: Page, wanted: Locator, key: 'Enter' | 'Space' = 'Enter'): Promise<void> {
  await reach(page, wanted);
  await page.keyboard.press(key);
}

function hasFocus(wanted: Locator): Promise<boolean> {
  return wanted.first().evaluate(element => element.ownerDocument.activeElement === element);
}

/** The name of what has the focus, "" for the body. @throws Error if nothing shows that it has it. */
export async function nameFocus(page: Page): Promise<string> {
  const [name, outline] = await page.evaluate<readonly [string, string]>(
    "(element => element === document.body ? ['', 'none'] : [element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent ?? element.textContent, getComputedStyle(element).outlineStyle])(document.activeElement ?? document.body)",
  );
  if (name !== '' && outline === 'none') throw new Error(`the focus at ${name} is not visible`);
  return name.trim();
}
