/** Starts the views of a saved page: the report is the file's own document, and the views take its place while their address is open. */
import { render } from 'preact';
import { useEffect } from 'preact/hooks';
import { LIVE_VIEWS } from '../api/access.js';
import { connection } from '../api/live.js';
import { DOCUMENT, hrefOf, usePlace } from '../api/router.js';
import { App, VIEWS } from '../app/app.js';
import { linkNames } from './link-names.js';

/** Elements of the document, and the style sheets of both. */
const parts = [...document.body.children].filter(({ id, tagName }) => id !== 'app' && tagName !== 'SCRIPT');
const sheet = (id: string): HTMLStyleElement | null => document.querySelector<HTMLStyleElement>(`style#${id}`);

function SavedPage() {
  const { view } = usePlace();
  const isDocument = view === DOCUMENT;
  useEffect(() => {
    for (const part of parts) if (part instanceof HTMLElement) part.hidden = !isDocument;
    sheet('report-style')?.setAttribute('media', isDocument ? 'all' : 'not all');
    sheet('views-style')?.setAttribute('media', isDocument ? 'not all' : 'all');
    const root = document.getElementById('app');
    if (root !== null) root.hidden = isDocument;
    if (!isDocument) scrollTo(0, 0);
  }, [isDocument]);
  return isDocument ? null : <App />;
}

/** Links of the document to the views. Without scripts there are none. */
function addLinks(): void {
  const header = document.querySelector('header');
  if (header === null) return;
  const place = document.createElement('p');
  place.className = 'view-links';
  place.textContent = 'Interactive views: ';
  header.append(place);
  for (const { name, title } of VIEWS) {
    if (LIVE_VIEWS.has(name)) continue;
    const link = document.createElement('a');
    link.href = hrefOf(name);
    link.textContent = title;
    place.append(link, ' ');
  }
}

/** Sections of the report → the view that shows the same things, and its name. */
const VIEWS_OF_SECTIONS: Readonly<Record<string, string>> = {
  pipeline: 'pipeline',
  accuracy: 'results',
  detections: 'results',
  changes: 'results',
  'error-kinds': 'results',
  error: 'quantization',
  ranges: 'quantization',
  sensitivity: 'quantization',
  partition: 'compile',
  memory: 'compile',
  placement: 'compile',
};

function addSectionLinks(): void {
  for (const [section, view] of Object.entries(VIEWS_OF_SECTIONS)) {
    const head = document.querySelector(`section#${section} > h2`);
    const title = VIEWS.find(({ name }) => name === view)?.title;
    if (head === null || title === undefined) continue;
    const link = document.createElement('a');
    link.className = 'to-view';
    link.href = hrefOf(view);
    link.textContent = `in the view ${title}`;
    head.after(link);
  }
}

connection.set('connected');
addLinks();
addSectionLinks();
const root = document.getElementById('app');
if (root !== null) render(<SavedPage />, root);
// The report is read first; the data of the views is inflated when the browser has time. Safari does not tell when that is. An error is the console's.
(globalThis.requestIdleCallback ?? setTimeout)(() => void linkNames());
