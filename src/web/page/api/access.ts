/** What this page may show and do. */
import type { ProjectFacts } from '../../../report/views/pipeline-data.js';
import { isSaved } from './saved.js';
import { createStore } from './store.js';

/** Of the project that is shown; until it is known, that of the page. */
export const access = createStore<ProjectFacts['access']>(isSaved ? 'saved' : 'read-only');

/** Views of what only a project has: a saved page has none of them. */
export const LIVE_VIEWS: ReadonlySet<string> = new Set(['runs', 'tensor']);
