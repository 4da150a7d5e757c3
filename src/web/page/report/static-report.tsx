/** The view "Report" as markup, for pages that are read before or without their script. Built for Node. */
import { renderToString } from 'preact-render-to-string';
import type { PipelineView } from '../../../report/views/pipeline-data.js';
import type { LoadedEntry } from '../../../report/views/report-data.js';
import { plainText } from '../parts/text.js';
import { View } from '../parts/view.js';
import { ReportBody } from './report-body.js';
import { readResults } from './report-results.js';

/** Texts are escaped; the entries were checked before. */
export function renderReport(pipeline: PipelineView, entries: readonly LoadedEntry[]): string {
  const markup = renderToString(
    <>
      <header class="top">
        <div class="brand">
          <b>Tanren</b>
          <span>{plainText(pipeline.project.file)}</span>
          <span class="badge mute">saved page</span>
        </div>
      </header>
      <main>
        <noscript>
          <p class="strip warn">The other views of this page, and sorting, need JavaScript.</p>
        </noscript>
        <View title={plainText(pipeline.report?.title ?? 'Report')} tools={null}>
          <ReportBody results={readResults(pipeline, entries)} />
        </View>
      </main>
    </>,
  );
  // Also in attributes, which components fill with texts of files.
  return plainText(markup);
}
