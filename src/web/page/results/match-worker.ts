/** Matches the detections of two sides in a worker, as the files have megabytes, and then outlines masks image by image. */
import type { CocoDataset } from '../../../detection/coco/dataset.js';
import { outlineMasks } from './image-masks.js';
import { listedImage, type Matched, type MatchedImage, matchResults, matchSides, readDataset, readDetections } from './match-results.js';
import { buffersOf } from './object-columns.js';
import type { ImageMasks, ListedImage, MatchAddresses, MatchOrder, MatchResult } from './result-types.js';

/** What the worker is asked: first to match, files that it fetches or that it is given, then for masks. */
export type MatchRequest = MatchOrder | MatchAddresses | { readonly masksOf: number };

export type MatchAnswer =
  /** The images of the data set, before the detections are there. */
  | { readonly kind: 'images'; readonly images: readonly ListedImage[] }
  /** A file could not be fetched; the page asks for it itself, and says why. */
  | { readonly kind: 'not-fetched' }
  | { readonly kind: 'matched'; readonly result: MatchResult }
  | { readonly kind: 'masks'; readonly image: number; readonly masks: ImageMasks }
  | { readonly kind: 'problem'; readonly message: string };

let images: readonly MatchedImage[] = [];

addEventListener('message', ({ data }: MessageEvent<MatchRequest>) => {
  answer(data).catch((error: unknown) => {
    if (error instanceof NotFetched) send({ kind: 'not-fetched' });
    else send({ kind: 'problem', message: error instanceof Error ? error.message : String(error) });
  });
});

async function answer(request: MatchRequest): Promise<void> {
  if ('masksOf' in request) {
    const image = images[request.masksOf];
    if (image !== undefined) send({ kind: 'masks', image: request.masksOf, masks: outlineMasks(image) });
    return;
  }
  const matched = 'addresses' in request ? await matchFetched(request) : matchResults(request);
  images = matched.images;
  send({ kind: 'matched', result: matched.result }, buffersOf(matched.result));
}

/** Asks for all files at once, and reads each as soon as it is there and the data set is read. */
async function matchFetched({ addresses, token }: MatchAddresses): Promise<Matched> {
  const files = [addresses.left, addresses.right].map(path => fetchFile(path, token));
  const dataset = fetchFile(addresses.annotations, token).then(bytes => announce(readDataset(bytes)));
  const results = files.map(async file => {
    const [bytes, known] = await Promise.all([file, dataset]);
    return readDetections(bytes, known);
  });
  const [known, ...sides] = await Promise.all([dataset, ...results]);
  return matchSides(known, sides);
}

function announce(dataset: CocoDataset): CocoDataset {
  send({ kind: 'images', images: dataset.images.map(listedImage) });
  return dataset;
}

class NotFetched extends Error {}

async function fetchFile(path: string, token: string): Promise<ArrayBuffer> {
  try {
    const response = await fetch(path, { headers: { authorization: `Bearer ${token}` }, credentials: 'omit' });
    if (response.ok) return await response.arrayBuffer();
  } catch (error) {
    throw new NotFetched(path, { cause: error });
  }
  throw new NotFetched(path);
}

function send(message: MatchAnswer, transfer: readonly ArrayBufferLike[] = []): void {
  postMessage(message, transfer as Transferable[] as never);
}
