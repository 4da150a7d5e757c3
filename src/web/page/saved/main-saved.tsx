/** Starts the views of a saved page. Until the view "Report" has its data, the file's own document shows the same. */
import { render } from 'preact';
import { getJson } from '../api/client.js';
import { connection } from '../api/live.js';
import { onPlace } from '../api/router.js';
import { reportShown } from '../api/saved.js';
import { App } from '../app/app.js';
import { keepFocus } from '../app/keep-focus.js';

const root = document.getElementById('app');

function showApp(): void {
  document.getElementById('document')?.remove();
  if (root !== null) root.hidden = false;
}

connection.set('connected');
reportShown.subscribe(showApp);
onPlace(({ view }) => {
  if (view !== 'report') showApp();
});
if (root !== null) render(<App />, root);
keepFocus();
// Of damaged data, the app says what is wrong with it.
getJson('pipeline').catch(showApp);
