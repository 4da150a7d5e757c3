/** The layout of a graph, computed in a worker and kept by the graph's content. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { startWorker } from '../workers.js';
import type { GraphOrder, GraphPlaces } from './graph-types.js';
import workerAddress from './layout-worker.ts?worker&url';

const kept = new Map<string, GraphPlaces>();

/** Layouts that stay in memory. */
const MOST_KEPT = 40;

/** undefined until the layout is there. A change of the graph ends the layout of the former one. */
export function useLayout(order: GraphOrder): GraphPlaces | undefined {
  const key = useMemo(() => JSON.stringify(order), [order]);
  const [found, setFound] = useState<{ readonly key: string; readonly places: GraphPlaces }>();
  useEffect(() => {
    if (kept.has(key)) return undefined;
    const worker = startWorker(workerAddress);
    worker.onmessage = (event: MessageEvent<GraphPlaces>) => {
      const oldest = kept.keys().next().value;
      if (kept.size >= MOST_KEPT && oldest !== undefined) kept.delete(oldest);
      kept.set(key, event.data);
      setFound({ key, places: event.data });
      worker.terminate();
    };
    worker.postMessage(order);
    return () => worker.terminate();
  }, [key]);
  return kept.get(key) ?? (found?.key === key ? found.places : undefined);
}
