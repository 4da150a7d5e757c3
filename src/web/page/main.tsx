/** Starts the page. */
import { render } from 'preact';
import { followServer } from './api/live.js';
import { App } from './app/app.js';
import { keepFocus } from './app/keep-focus.js';
import './app/page.css';

const root = document.getElementById('app');
if (root !== null) render(<App />, root);
keepFocus();
void followServer();
