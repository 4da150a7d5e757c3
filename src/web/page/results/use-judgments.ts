/** Evaluates the detections of some sides in a worker. */
import { useEffect, useState } from 'preact/hooks';
import type { JsonObject } from '../../../base/json.js';
import { address, getBytes, getJson } from '../api/client.js';
import { asApiError } from '../api/use-data.js';
import { startWorker } from '../parts/workers.js';
import type { Judged, JudgeOrder } from './judge-results.js';
import workerAddress from './judge-worker.ts?worker&url';
import type { ResultSide } from './use-results.js';

/** A judgment per side, and as many `changes` as are wanted; the message of a problem; undefined while they are computed. Only the sides of the first call count: give the component a key of them. */
export function useJudgments(sides: readonly ResultSide[], changes?: number): Judged | string | undefined {
  const [found, setFound] = useState<Judged | string>();
  useEffect(() => {
    const controller = new AbortController();
    const worker = startWorker(workerAddress, ({ message }) => setFound(message));
    worker.onmessage = (event: MessageEvent<Judged | { readonly problem: string }>) => {
      setFound('problem' in event.data ? event.data.problem : event.data);
      worker.terminate();
    };
    loadJudgeOrder(sides, controller.signal).then(
      order => worker.postMessage(changes === undefined ? order : { ...order, changes }),
      (error: unknown) => {
        worker.terminate();
        if (!controller.signal.aborted) setFound(asApiError(error).message);
      },
    );
    return () => {
      controller.abort();
      worker.terminate();
    };
  }, []);
  return found;
}

/** The files of the sides, and the data set of the last one. */
async function loadJudgeOrder(sides: readonly ResultSide[], signal: AbortSignal): Promise<JudgeOrder> {
  const last = sides.at(-1);
  const annotations = await getBytes(address('input', { stage: last?.stage.id, name: last?.annotations }), signal);
  const read = async ({ stage, port, of }: ResultSide): Promise<JudgeOrder['sides'][number]> => {
    const metrics = stage.outputs.find(({ kind }) => kind === 'metrics')?.port;
    const figures =
      metrics === undefined ? {} : await getJson<JsonObject>(address('artifact', { stage: stage.id, port: metrics, of }), signal);
    const detections = await getBytes(address('artifact', { stage: stage.id, port, of }), signal);
    return { detections, images: typeof figures.images === 'number' ? figures.images : undefined };
  };
  return { sides: await Promise.all(sides.map(read)), annotations };
}
