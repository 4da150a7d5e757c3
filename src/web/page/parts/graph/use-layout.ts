/** The layout of a graph, computed in a worker and kept by the graph's content. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { ApiError } from '../../api/client.js';
import { isSaved } from '../../api/saved.js';
import { startWorker } from '../workers.js';
import type { GraphOrder, GraphPlaces } from './graph-types.js';
import workerAddress from './layout-worker.ts?worker&url';

const kept = new Map<string, GraphPlaces>();

/** Layouts that stay in memory. */
const MOST_KEPT = 40;

/** A worker that has started and waits: starting takes longer than laying out a small graph. A saved page starts none before it draws a graph. */
let spare: LayoutWorker | undefined = isSaved ? undefined : startLayouts();

interface LayoutWorker {
  readonly worker: Worker;
  /** Told when the worker stops; while it is the spare one, that it is none any more is enough. */
  fail: (error: ApiError) => void;
}

function startLayouts(): LayoutWorker {
  const own: LayoutWorker = {
    worker: startWorker(workerAddress, error => own.fail(error)),
    fail: forget,
  };
  return own;
}

function forget(): void {
  spare = undefined;
}

/** undefined until the layout is there. A change of the graph ends the layout of the former one. */
export function useLayout(order: GraphOrder): GraphPlaces | ApiError | undefined {
  const key = useMemo(() => JSON.stringify(order), [order]);
  const [found, setFound] = useState<{ readonly key: string; readonly places: GraphPlaces | ApiError }>();
  useEffect(() => {
    if (kept.has(key)) return undefined;
    let isDone = false;
    const own = spare ?? startLayouts();
    const { worker } = own;
    spare = undefined;
    own.fail = error => setFound({ key, places: error });
    worker.onmessage = (event: MessageEvent<GraphPlaces>) => {
      const oldest = kept.keys().next().value;
      if (kept.size >= MOST_KEPT && oldest !== undefined) kept.delete(oldest);
      kept.set(key, event.data);
      setFound({ key, places: event.data });
      isDone = true;
      worker.onmessage = null;
      own.fail = forget;
      if (spare === undefined) spare = own;
      else worker.terminate();
    };
    worker.postMessage(order);
    return () => {
      if (!isDone) worker.terminate();
    };
  }, [key]);
  return kept.get(key) ?? (found?.key === key ? found.places : undefined);
}
