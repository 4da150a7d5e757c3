/** Settings of the page that stay in the browser. */

/** @returns undefined where the browser keeps nothing: a page in a file may have no storage. */
export function keep<T>(use: () => T): T | undefined {
  try {
    return use();
  } catch (error) {
    if (error instanceof DOMException) return undefined;
    throw error;
  }
}
