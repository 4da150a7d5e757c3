/** Truncation of long texts in messages of stages, which the console and the worker channel must not receive in full. */

const MAX_CHARACTERS = 1 << 18;

/** Maximum length of a progress text, which should fit in a line of a terminal. */
export const MAX_PROGRESS_CHARACTERS = 200;

export function clipText(text: string, most = MAX_CHARACTERS): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most)}… (cut here: it has ${text.length} characters)`;
}
