/** Both sides of a comparison: fetched, and matched in a worker. */
import { useEffect, useState } from 'preact/hooks';
import type { StageRow } from '../../../report/views/pipeline-data.js';
import { type ApiError, address, getBytes } from '../api/client.js';
import { asApiError } from '../api/use-data.js';
import { startWorker } from '../parts/workers.js';
import workerAddress from './match-worker.ts?worker&url';
import type { MatchOrder, MatchResult } from './result-types.js';

export interface ResultSide {
  readonly stage: StageRow;
  /** The output port with detections. */
  readonly port: string;
  /** Names of the inputs with the data set. */
  readonly annotations: string;
  readonly images: string;
}

/** The stages whose outputs are detections on a data set that the page can read. */
export function findSides(stages: readonly StageRow[]): readonly ResultSide[] {
  return stages.flatMap(stage => {
    const port = stage.outputs.find(({ kind, absent }) => kind === 'detections' && absent !== true)?.port;
    const [annotations, images] = ['annotations', 'images'].map(entry => stage.inputs.find(({ name }) => name === `data.${entry}`)?.name);
    return port === undefined || annotations === undefined || images === undefined || !stage.built
      ? []
      : [{ stage, port, annotations, images }];
  });
}

interface Matched {
  readonly key: string;
  readonly result: MatchResult | undefined;
  readonly error: ApiError | undefined;
}

export function useResults(left: ResultSide, right: ResultSide): Omit<Matched, 'key'> {
  const key = [left, right].map(({ stage, port }) => stage.outputs.find(one => one.port === port)?.digest).join(' ');
  const [found, setFound] = useState<Matched>({ key: '', result: undefined, error: undefined });
  useEffect(() => {
    const controller = new AbortController();
    const worker = startWorker(workerAddress);
    worker.onmessage = (event: MessageEvent<MatchResult | { problem: string }>) => {
      if ('problem' in event.data) setFound({ key, result: undefined, error: asApiError(new Error(event.data.problem)) });
      else setFound({ key, result: event.data, error: undefined });
      worker.terminate();
    };
    load(left, right, controller.signal).then(
      order => worker.postMessage(order, [order.left, order.right, order.annotations]),
      (error: unknown) => !controller.signal.aborted && setFound({ key, result: undefined, error: asApiError(error) }),
    );
    return () => {
      controller.abort();
      worker.terminate();
    };
  }, [key]);
  return found.key === key ? found : { result: undefined, error: undefined };
}

async function load(left: ResultSide, right: ResultSide, signal: AbortSignal): Promise<MatchOrder> {
  const [one, other, annotations] = await Promise.all([
    getBytes(address('artifact', { stage: left.stage.id, port: left.port }), signal),
    getBytes(address('artifact', { stage: right.stage.id, port: right.port }), signal),
    getBytes(address('input', { stage: right.stage.id, name: right.annotations }), signal),
  ]);
  return { left: one, right: other, annotations };
}
