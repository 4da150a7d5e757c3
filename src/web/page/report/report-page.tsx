/** The view "Report": everything that the pipeline found, in the order of its report. */
import { useEffect } from 'preact/hooks';
import { usePlace } from '../api/router.js';
import { reportShown } from '../api/saved.js';
import { Empty } from '../parts/notice.js';
import { plainText } from '../parts/text.js';
import { View } from '../parts/view.js';
import type { ViewProps } from '../parts/view-props.js';
import { ReportBody } from './report-body.js';
import { showSection } from './report-section.js';
import { useReport } from './use-results.js';

export function ReportPage({ pipeline }: ViewProps) {
  const results = useReport(pipeline);
  const { query } = usePlace();
  useEffect(() => {
    if (results === undefined) return;
    reportShown.set(true);
    if (query.at !== undefined) showSection(query.at);
  }, [results === undefined, query.at]);
  return (
    <View title={plainText(pipeline.report?.title ?? 'Report')} tools={null}>
      {results === undefined ? <Empty>Loading the results …</Empty> : <ReportBody results={results} />}
    </View>
  );
}
