/** The HTML document of the report: one file with style, a small script and sections. It loads nothing from a network. */
import { createHash } from 'node:crypto';
import { type Html, type HtmlValue, html, NOTHING, trusted } from './html.js';
import { DATA_ID } from './saved/answer-key.js';
import { PAGE_SCRIPT, PAGE_STYLE } from './saved/page-bundle.js';
import { SORT_SCRIPT } from './sort-script.js';
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
  /** The data of the interactive views, see `encodeAnswers`; absent: the page has none. */
  readonly views?: string;
}

/** Adds a button that switches between light and dark, and sorts tables. Without scripts, the page follows the system, and tables have their order. */
const SCRIPT = `(()=>{const root=document.documentElement,button=document.createElement('button');
const dark=()=>root.dataset.scheme?root.dataset.scheme==='dark':matchMedia('(prefers-color-scheme:dark)').matches;
const show=()=>{button.textContent=dark()?'Light':'Dark';button.setAttribute('aria-label',dark()?'Light colors':'Dark colors')};
button.type='button';button.addEventListener('click',()=>{root.dataset.scheme=dark()?'light':'dark';show()});
matchMedia('(prefers-color-scheme:dark)').addEventListener('change',show);
document.querySelector('nav div').append(button);show()})();
${SORT_SCRIPT}`;

/**
 * Content security policy: only the page's own scripts run, and images are embedded, so that names in models cannot load or run anything.
 * The views start workers from their own code, and show images that the data holds.
 */
function policyOf(scripts: readonly string[]): string {
  const digests = scripts.map(script => `'sha256-${createHash('sha256').update(script).digest('base64')}'`).join(' ');
  const ofViews = scripts.length > 1 ? '; worker-src blob:; img-src data: blob:' : '; img-src data:';
  return `default-src 'none'; style-src 'unsafe-inline'; script-src ${digests}${ofViews}; base-uri 'none'; form-action 'none'`;
}

export function drawPage({ title, lead, summary, sections, footer, views }: Page): string {
  const policy = policyOf(views === undefined ? [SCRIPT] : [SCRIPT, PAGE_SCRIPT]);
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${trusted(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<link rel="icon" href="data:,">
<style id="report-style">${trusted(STYLE)}</style>
${views === undefined ? undefined : html`<style id="views-style" media="not all">${trusted(PAGE_STYLE)}</style>\n`}</head>
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
${views === undefined ? undefined : drawViews(views)}</body>
</html>
`;
  return page.markup;
}

/** The views stay hidden until their script shows them. */
function drawViews(data: string): Html {
  return html`<div id="app" data-form="saved" hidden></div>
<script type="application/gzip" id="${DATA_ID}">${trusted(data)}</script>
<script>${trusted(PAGE_SCRIPT)}</script>
`;
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
