/** HTML tables with caption, scopes and aligned numbers, in a container that scrolls where the table is too wide. */
import { findColumnHint } from './column-hints.js';
import { type Html, type HtmlValue, html } from './html.js';

export interface Column {
  readonly title: HtmlValue;
  /** 'number': right-aligned, with digits of equal width. */
  readonly align: 'text' | 'number';
  /** Explanation of the head. Default: that of its term, if it is one. */
  readonly hint?: string | undefined;
}

export interface Table {
  readonly caption: string;
  readonly columns: readonly Column[];
  /** The first cell of a row is its header. */
  readonly rows: readonly (readonly HtmlValue[])[];
}

export function text(title: HtmlValue, hint?: string): Column {
  return { title, align: 'text', hint };
}

export function number(title: HtmlValue, hint?: string): Column {
  return { title, align: 'number', hint };
}

export function drawTable({ caption, columns, rows }: Table): Html {
  const classOf = (index: number): string => (columns[index]?.align === 'number' ? 'n' : 't');
  const cell = (value: HtmlValue, index: number): Html =>
    index === 0 ? html`<th scope="row" class="${classOf(index)}">${value}</th>` : html`<td class="${classOf(index)}">${value}</td>`;
  // Focusable, so that it can be scrolled by keyboard.
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${caption}"><table>
<caption>${caption}</caption>
<thead><tr>${columns.map((column, index) => html`<th scope="col" class="${classOf(index)}"${drawHint(column)}>${column.title}</th>`)}</tr></thead>
<tbody>
${rows.map(row => html`<tr>${row.map(cell)}</tr>\n`)}</tbody>
</table></div>
`;
}

function drawHint({ title, hint: own }: Column): HtmlValue {
  const hint = own ?? (typeof title === 'string' ? findColumnHint(title) : undefined);
  return hint === undefined ? undefined : html` title="${hint}"`;
}
