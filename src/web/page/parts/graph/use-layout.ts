/** The layout of a graph, computed in a worker and kept by the graph's content. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { isSaved } from '../../api/saved.js';
import { startWorker } from '../workers.js';
import type { GraphOrder, GraphPlaces } from './graph-types.js';
import workerAddress from './layout-worker.ts?worker&url';

const kept = new Map<string, GraphPlaces>();

/** Layouts that stay in memory. */
const MOST_KEPT = 40;

/** A worker that has started and waits: starting takes longer than laying out a small graph. A saved page starts none before it draws a graph. */
let spare: Worker | undefined = isSaved ? undefined : startWorker(workerAddress);

/** undefined until the layout is there. A change of the graph ends the layout of the former one. */
export function useLayout(order: GraphOrder): GraphPlaces | undefined {
  const key = useMemo(() => JSON.stringify(order), [order]);
  const [found, setFound] = useState<{ readonly key: string; readonly places: GraphPlaces }>();
  useEffect(() => {
    if (kept.has(key)) return undefined;
    let isDone = false;
    const worker = spare ?? startWorker(workerAddress);
    spare = undefined;
    worker.onmessage = (event: MessageEvent<GraphPlaces>) => {
      const oldest = kept.keys().next().value;
      if (kept.size >= MOST_KEPT && oldest !== undefined) kept.delete(oldest);
      kept.set(key, event.data);
      setFound({ key, places: event.data });
      isDone = true;
      worker.onmessage = null;
      if (spare === undefined) spare = worker;
      else worker.terminate();
    };
    worker.postMessage(order);
    return () => {
      if (!isDone) worker.terminate();
    };
  }, [key]);
  return kept.get(key) ?? (found?.key === key ? found.places : undefined);
}
