/** Builds HTML from untrusted text: a template tag that escapes all values except markup. */

/** Markup. Only this file creates it from text. */
export interface Html {
  readonly markup: string;
}

export type HtmlValue = string | number | Html | readonly HtmlValue[] | undefined;

/** Markup with its values escaped, for content and for attributes in double quotes. Lists are concatenated; undefined gives nothing. */
export function html(texts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  let markup = texts[0] ?? '';
  for (const [index, value] of values.entries()) markup += markupOf(value) + (texts[index + 1] ?? '');
  return { markup };
}

/** Trusted markup without escaping, for drawings of libraries and for the style and script of the page. Never use it for external text. */
export function trusted(markup: string): Html {
  return { markup };
}

function markupOf(value: HtmlValue): string {
  if (value === undefined) return '';
  if (typeof value === 'string') return escapeHtml(value);
  if (typeof value === 'number') return String(value);
  return 'markup' in value ? value.markup : value.map(markupOf).join('');
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/**
 * Escapes text for content and attribute values. Control characters, which HTML does not allow, and characters that change the text direction become
 * U+FFFD, so that a name cannot change how the text around it reads.
 */
export function escapeHtml(text: string): string {
  return cleanText(text).replace(/[&<>"']/g, character => ESCAPES[character] ?? character);
}

/** Replaces disallowed characters without escaping, for drawings whose library escapes. */
export function cleanText(text: string): string {
  return text.replace(UNWANTED, '\uFFFD');
}

// Also lone surrogates, which have no UTF-8 encoding.
const UNWANTED = /[\p{Cc}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069\p{Cs}]/gu;
