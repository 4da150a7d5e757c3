/** The HTML document of a saved page: one file with style, script and data. It loads nothing from a network. */
import { createHash } from 'node:crypto';
import { html, trusted } from './html.js';
import { DATA_ID } from './saved/answer-key.js';
import { PAGE_SCRIPT, PAGE_STYLE } from './saved/page-bundle.js';

export interface SavedDocument {
  readonly title: string;
  /** Markup that is shown before the script runs, and without it: its texts are escaped. */
  readonly body: string;
  /** The data of the views, see `encodeAnswers`. */
  readonly views: string;
}

/**
 * Content security policy: only the page's own script runs, and images are in the data, so that names in models cannot load or run anything.
 * The views start workers from their own code.
 */
function policyOf(script: string): string {
  const digest = `'sha256-${createHash('sha256').update(script).digest('base64')}'`;
  return `default-src 'none'; style-src 'unsafe-inline'; script-src ${digest}; worker-src blob:; img-src data: blob:; base-uri 'none'; form-action 'none'`;
}

export function drawDocument({ title, body, views }: SavedDocument): string {
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${trusted(policyOf(PAGE_SCRIPT))}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>${trusted(PAGE_STYLE)}</style>
</head>
<body>
<div id="document">${trusted(body)}</div>
<div id="app" data-form="saved" hidden></div>
<script type="application/gzip" id="${DATA_ID}">${trusted(views)}</script>
<script>${trusted(PAGE_SCRIPT)}</script>
</body>
</html>
`;
  return page.markup;
}
