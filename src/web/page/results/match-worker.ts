/** Matches the detections of two sides in a worker, as the files have megabytes, and then outlines masks image by image. */
import { outlineMasks } from './image-masks.js';
import { type MatchedImage, matchResults } from './match-results.js';
import { buffersOf } from './object-columns.js';
import type { ImageMasks, MatchOrder, MatchResult } from './result-types.js';

/** What the worker is asked: first to match, then for masks. */
export type MatchRequest = MatchOrder | { readonly masksOf: number };

export type MatchAnswer =
  | { readonly kind: 'matched'; readonly result: MatchResult }
  | { readonly kind: 'masks'; readonly image: number; readonly masks: ImageMasks }
  | { readonly kind: 'problem'; readonly message: string };

let images: readonly MatchedImage[] = [];

addEventListener('message', ({ data }: MessageEvent<MatchRequest>) => {
  try {
    answer(data);
  } catch (error) {
    send({ kind: 'problem', message: error instanceof Error ? error.message : String(error) });
  }
});

function answer(request: MatchRequest): void {
  if ('masksOf' in request) {
    const image = images[request.masksOf];
    if (image !== undefined) send({ kind: 'masks', image: request.masksOf, masks: outlineMasks(image) });
    return;
  }
  const matched = matchResults(request);
  images = matched.images;
  send({ kind: 'matched', result: matched.result }, buffersOf(matched.result));
}

function send(message: MatchAnswer, transfer: readonly ArrayBufferLike[] = []): void {
  postMessage(message, transfer as Transferable[] as never);
}
