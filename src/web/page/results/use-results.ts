/** Both sides of a comparison: fetched and matched in a worker, and masks as images are shown. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { StageRow } from '../../../report/views/pipeline-data.js';
import { type ApiError, address, getBytes, tokenOf } from '../api/client.js';
import { isSaved } from '../api/saved.js';
import { asApiError } from '../api/use-data.js';
import { startWorker } from '../parts/workers.js';
import { afterAnswer, NOTHING_MATCHED, type OutlinedMasks, stateOf } from './match-state.js';
import type { MatchAnswer, MatchRequest } from './match-worker.js';
import workerAddress from './match-worker.ts?worker&url';
import type { ListedImage, MatchAddresses, MatchOrder, MatchResult } from './result-types.js';

export interface ResultSide {
  readonly stage: StageRow;
  /** The output port with detections. */
  readonly port: string;
  /** Names of the inputs with the data set. */
  readonly annotations: string;
  readonly images: string;
  /** The run whose detections are shown; undefined: the present ones. */
  readonly of?: string | undefined;
}

export function nameOf({ stage, of }: ResultSide): string {
  return of === undefined || of === 'now' ? stage.id : `${stage.id} of ${of}`;
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

export interface Results {
  /** The images of the data set, as soon as they are known. */
  readonly images: readonly ListedImage[] | undefined;
  readonly result: MatchResult | undefined;
  readonly error: ApiError | undefined;
  /** The masks that were outlined last. */
  readonly masks: OutlinedMasks | undefined;
  /** Lets the worker outline the masks of an image. */
  readonly outline: (image: number) => void;
}

export function useResults(left: ResultSide, right: ResultSide): Results {
  const key = [left, right].map(({ stage, port, of }) => of ?? stage.outputs.find(one => one.port === port)?.digest).join(' ');
  const [found, setFound] = useState(NOTHING_MATCHED);
  const { reading, images, result, error, masks } = stateOf(found, key);
  const worker = useRef<Worker>();
  useEffect(() => {
    const controller = new AbortController();
    const fail = (problem: ApiError): void => setFound(({ reading: last }) => ({ key, reading: last, isRepeated: false, error: problem }));
    const own = startWorker(workerAddress, fail);
    worker.current = own;
    const giveFiles = (): void => {
      load(left, right, controller.signal).then(
        order => own.postMessage(order, [order.left, order.right, order.annotations]),
        (problem: unknown) => {
          own.terminate();
          if (!controller.signal.aborted) fail(asApiError(problem));
        },
      );
    };
    own.onmessage = ({ data }: MessageEvent<MatchAnswer>) => {
      if (data.kind === 'not-fetched') giveFiles();
      else setFound(before => afterAnswer(stateOf(before, key), data));
    };
    if (isSaved) giveFiles();
    else own.postMessage(addressesOf(left, right) satisfies MatchRequest);
    return () => {
      controller.abort();
      own.terminate();
      worker.current = undefined;
    };
  }, [key, reading]);
  const outline = useCallback((image: number): void => worker.current?.postMessage({ masksOf: image } satisfies MatchRequest), []);
  return { images, result, error, masks, outline };
}

/** The masks of one image, or why there are none; undefined until that is known. @param image undefined: none are wanted. */
export function useMasks({ result, masks, outline }: Results, image: number | undefined): OutlinedMasks | undefined {
  const wanted = result?.hasMasks === true ? image : undefined;
  useEffect(() => {
    if (wanted !== undefined) outline(wanted);
  }, [wanted, result]);
  return wanted !== undefined && masks?.image === wanted ? masks : undefined;
}

async function load(left: ResultSide, right: ResultSide, signal: AbortSignal): Promise<MatchOrder> {
  const paths = pathsOf(left, right);
  const [one, other, annotations] = await Promise.all([
    getBytes(paths.left, signal),
    getBytes(paths.right, signal),
    getBytes(paths.annotations, signal),
  ]);
  return { left: one, right: other, annotations };
}

/** The worker has an address of its own, so that paths alone would not lead to the server. */
function addressesOf(left: ResultSide, right: ResultSide): MatchAddresses {
  const paths = pathsOf(left, right);
  const of = (path: string): string => `${location.origin}/api/${path}`;
  return { addresses: { left: of(paths.left), right: of(paths.right), annotations: of(paths.annotations) }, token: tokenOf() };
}

function pathsOf(left: ResultSide, right: ResultSide): MatchAddresses['addresses'] {
  const detections = ({ stage, port, of }: ResultSide): string => address('artifact', { stage: stage.id, port, of });
  const annotations = address('input', { stage: right.stage.id, name: right.annotations });
  return { left: detections(left), right: detections(right), annotations };
}
