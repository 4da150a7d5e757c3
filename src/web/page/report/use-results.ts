/** Loads the results that the view "Report" shows. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Json } from '../../../base/json.js';
import type { PipelineView } from '../../../report/views/pipeline-data.js';
import type { LoadedEntry } from '../../../report/views/report-data.js';
import { getJson } from '../api/client.js';
import { asApiError } from '../api/use-data.js';
import { addressOf, listEntries } from './list-entries.js';
import { type ReportResults, readResults } from './report-results.js';

/** undefined until everything is loaded. Results of stages that are not built are left out. */
export function useReport(pipeline: PipelineView): ReportResults | undefined {
  const wanted = useMemo(
    () =>
      listEntries(pipeline).flatMap(entry => {
        const at = addressOf(entry, pipeline);
        return at === undefined ? [] : [{ entry, at }];
      }),
    [pipeline],
  );
  const key = wanted.map(({ at }) => at).join(' ');
  const [found, setFound] = useState<Pick<ReportResults, 'unread'> & { readonly key: string; readonly loaded: readonly LoadedEntry[] }>();
  useEffect(() => {
    const controller = new AbortController();
    Promise.allSettled(wanted.map(({ at }) => getJson<Json>(at, controller.signal))).then(answers => {
      if (controller.signal.aborted) return;
      const loaded: LoadedEntry[] = [];
      const unread: { entry: LoadedEntry['entry']; reason: string }[] = [];
      for (const [index, answer] of answers.entries()) {
        const entry = wanted[index]?.entry;
        if (entry === undefined) continue;
        if (answer.status === 'fulfilled') loaded.push({ entry, value: answer.value });
        else unread.push({ entry, reason: asApiError(answer.reason).message });
      }
      setFound({ key, loaded, unread });
    });
    return () => controller.abort();
  }, [key]);
  return useMemo(() => (found === undefined ? undefined : readResults(pipeline, found.loaded, found.unread)), [pipeline, found]);
}
