/** The HTML document of the report: one file with style, a small script and sections. It loads nothing from a network. */
import { createHash } from 'node:crypto';
import { type Html, type HtmlValue, html, NOTHING, trusted } from './html.js';
import { STYLE } from './style.js';

export interface Section {
  /** The anchor: letters, digits and "-". */
  readonly id: string;
  readonly title: string;
  readonly body: HtmlValue;
}

export interface Page {
  readonly title: string;
  readonly lead: HtmlValue;
  /** Content above all sections. */
  readonly summary: HtmlValue;
  readonly sections: readonly Section[];
  readonly footer: HtmlValue;
}

/** Adds a button that switches between light and dark. Without scripts, the page follows the system. */
const SCRIPT = `(()=>{const root=document.documentElement,button=document.createElement('button');
const dark=()=>root.dataset.scheme?root.dataset.scheme==='dark':matchMedia('(prefers-color-scheme:dark)').matches;
const show=()=>{button.textContent=dark()?'Light':'Dark';button.setAttribute('aria-label',dark()?'Light colors':'Dark colors')};
button.type='button';button.addEventListener('click',()=>{root.dataset.scheme=dark()?'light':'dark';show()});
matchMedia('(prefers-color-scheme:dark)').addEventListener('change',show);
document.querySelector('nav div').append(button);show()})();`;

/** Content security policy: only this script runs, and images are embedded, so that names in models cannot load or run anything. */
const POLICY = `default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-${createHash('sha256').update(SCRIPT).digest('base64')}'; base-uri 'none'; form-action 'none'`;

export function drawPage({ title, lead, summary, sections, footer }: Page): string {
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${trusted(POLICY)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>${trusted(STYLE)}</style>
</head>
<body>
<header>
<h1>${title}</h1>
<p class="soft">${lead}</p>
</header>
<nav aria-label="Sections"><div>${sections.map(section => html`<a href="#${section.id}">${section.title}</a>`)}</div></nav>
<main>
${summary}
${sections.map(drawSection)}</main>
<footer>${footer}</footer>
<script>${trusted(SCRIPT)}</script>
</body>
</html>
`;
  return page.markup;
}

function drawSection({ id, title, body }: Section): Html {
  return html`<section id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title">${title}</h2>
${body}</section>
`;
}

export interface Tile {
  readonly label: string;
  readonly value: HtmlValue;
  readonly note?: HtmlValue;
}

/** Tiles with the main figures. */
export function drawTiles(tiles: readonly Tile[]): Html {
  if (tiles.length === 0) return NOTHING;
  const note = (value: HtmlValue): Html => (value === undefined ? NOTHING : html`<dd class="note">${value}</dd>`);
  return html`<dl class="tiles">
${tiles.map(tile => html`<div class="tile"><dt>${tile.label}</dt><dd class="value">${tile.value}</dd>${note(tile.note)}</div>\n`)}</dl>
`;
}

/** A colored label. The words carry the meaning, not only the color. */
export function drawBadge(look: 'good' | 'bad' | 'warn' | 'info' | 'mute', words: string): Html {
  return html`<span class="badge ${look}">${words}</span>`;
}
