/** How is markup made from text that nobody can be trusted with? By a template tag: everything put into it is escaped, unless it is markup already. */

/** Markup. Only this file makes it from text. */
export interface Html {
  readonly markup: string;
}

export type HtmlValue = string | number | Html | readonly HtmlValue[] | undefined;

/** Markup with its values escaped, for content and for attributes in double quotes. Lists are joined without anything between; undefined is nothing. */
export function html(texts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  let markup = texts[0] ?? '';
  for (const [index, value] of values.entries()) markup += markupOf(value) + (texts[index + 1] ?? '');
  return { markup };
}

/** Markup as it stands: for what a library drew, and for our own style and script. Never for text from outside. */
export function trusted(markup: string): Html {
  return { markup };
}

export const NOTHING: Html = { markup: '' };

function markupOf(value: HtmlValue): string {
  if (value === undefined) return '';
  if (typeof value === 'string') return escapeHtml(value);
  if (typeof value === 'number') return String(value);
  return 'markup' in value ? value.markup : value.map(markupOf).join('');
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/**
 * Text as content or attribute value. Control characters, which HTML does not allow, and those that turn the direction of what follows become U+FFFD:
 * a name must not be able to make its neighbours read otherwise.
 */
export function escapeHtml(text: string): string {
  return cleanText(text).replace(/[&<>"']/g, character => ESCAPES[character] ?? character);
}

/** The text without what no text on the page may have; for drawings whose library escapes by itself. */
export function cleanText(text: string): string {
  return text.replace(UNWANTED, '\uFFFD');
}

// Lone surrogates too: they have no UTF-8.
const UNWANTED = /[\p{Cc}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069\p{Cs}]/gu;
