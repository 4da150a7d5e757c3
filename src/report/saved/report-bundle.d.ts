/** The view "Report" as markup, which the build bundles (scripts/build-saved-page.mjs) from the components of the page. */
import type { PipelineView } from '../views/pipeline-data.js';
import type { LoadedEntry } from '../views/report-data.js';

/** Texts are escaped. @param entries in the order in which tables show them. */
export function renderReport(pipeline: PipelineView, entries: readonly LoadedEntry[]): string;
