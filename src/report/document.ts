/** What is the frame of the page? One file: its style, a few lines of script, sections with anchors. It asks nothing of any network. */
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
  /** Stands above all sections. */
  readonly summary: HtmlValue;
  readonly sections: readonly Section[];
  readonly footer: HtmlValue;
}

/** A button that turns light to dark and back. Without scripts there is none, and the page follows the system. */
const SCRIPT = `(()=>{const root=document.documentElement,button=document.createElement('button');
const dark=()=>root.dataset.scheme?root.dataset.scheme==='dark':matchMedia('(prefers-color-scheme:dark)').matches;
const show=()=>{button.textContent=dark()?'Light':'Dark';button.setAttribute('aria-label',dark()?'Light colours':'Dark colours')};
button.type='button';button.addEventListener('click',()=>{root.dataset.scheme=dark()?'light':'dark';show()});
matchMedia('(prefers-color-scheme:dark)').addEventListener('change',show);
document.querySelector('nav div').append(button);show()})();`;

/** Whatever a name in a model does, no browser loads or runs anything for it: only this script may run, and images are in the page. */
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

/** The few figures that decide. */
export function drawTiles(tiles: readonly Tile[]): Html {
  if (tiles.length === 0) return NOTHING;
  const note = (value: HtmlValue): Html => (value === undefined ? NOTHING : html`<dd class="note">${value}</dd>`);
  return html`<dl class="tiles">
${tiles.map(tile => html`<div class="tile"><dt>${tile.label}</dt><dd class="value">${tile.value}</dd>${note(tile.note)}</div>\n`)}</dl>
`;
}

/** A word with a meaning that colour alone does not carry. */
export function drawBadge(look: 'good' | 'bad' | 'warn' | 'info' | 'mute', words: string): Html {
  return html`<span class="badge ${look}">${words}</span>`;
}
