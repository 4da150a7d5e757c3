/** Loads the results that the view "Report" shows. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Json } from '../../../base/json.js';
import type { PipelineView } from '../../../report/views/pipeline-data.js';
import type { LoadedEntry } from '../../../report/views/report-data.js';
import { getJson } from '../api/client.js';
import { changes } from '../api/live.js';
import { useStore } from '../api/store.js';
import { asApiError } from '../api/use-data.js';
import { addressOf, listEntries } from './list-entries.js';
import { type ReportResults, readResults } from './report-results.js';

/** undefined until everything is loaded. Results of stages that are not built are left out. What cannot be loaded is tried again with the next change. */
export function useReport(pipeline: PipelineView): ReportResults | undefined {
  const wanted = useMemo(
    () =>
      listEntries(pipeline).flatMap(entry => {
        const at = addressOf(entry, pipeline);
        return at === undefined ? [] : [{ entry, at }];
      }),
    [pipeline],
  );
  const change = useStore(changes);
  // The address of a source has no version.
  const key = wanted
    .map(({ entry: { port, name, stage }, at }) => JSON.stringify([port, name, at, stage === undefined ? change : 0]))
    .join(' ');
  const whole = useRef<string>();
  const [found, setFound] = useState<Pick<ReportResults, 'unread'> & { readonly loaded: readonly LoadedEntry[] }>();
  useEffect(() => {
    if (whole.current === key) return undefined;
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
      whole.current = unread.length === 0 ? key : undefined;
      setFound({ loaded, unread });
    });
    return () => controller.abort();
  }, [key, change]);
  return useMemo(() => (found === undefined ? undefined : readResults(pipeline, found.loaded, found.unread)), [pipeline, found]);
}
