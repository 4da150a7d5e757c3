/** Matches the detections of two sides in a worker, as the files have megabytes, and then outlines masks image by image. */
import { type ObjectColumns, readDataset, readDatasetRows, readDetectionRows, readDetections } from './detection-columns.js';
import { type FetchedFile, FileChanged, NotFetched, openFile, type ReadBytes } from './fetched-file.js';
import { type MaskFiles, outlineMasks } from './image-masks.js';
import { listedImage, type Matched, matchResults, matchSides } from './match-results.js';
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
  | { readonly kind: 'masks'; readonly image: number; readonly masks: ImageMasks; readonly problem?: string }
  | { readonly kind: 'no-masks'; readonly image: number; readonly message: string }
  /** A file is another one than was matched: the image has no masks. */
  | { readonly kind: 'changed'; readonly image: number }
  | { readonly kind: 'problem'; readonly message: string };

let masksAt: Matched['masksAt'] = () => undefined;

/** Where masks are fetched from; undefined where their content came with the files. */
let maskFiles: MaskFiles | undefined;

addEventListener('message', ({ data }: MessageEvent<MatchRequest>) => {
  answer(data).catch((error: unknown) => {
    const message = error instanceof Error ? error.message : String(error);
    if ('masksOf' in data)
      send(error instanceof FileChanged ? { kind: 'changed', image: data.masksOf } : { kind: 'no-masks', image: data.masksOf, message });
    else if (error instanceof NotFetched) send({ kind: 'not-fetched' });
    else send({ kind: 'problem', message });
  });
});

async function answer(request: MatchRequest): Promise<void> {
  if ('masksOf' in request) {
    const image = masksAt(request.masksOf);
    if (image !== undefined) send({ kind: 'masks', image: request.masksOf, ...(await outlineMasks(image, maskFiles)) });
    return;
  }
  const matched = 'addresses' in request ? await matchFetched(request) : matchResults(request);
  masksAt = matched.masksAt;
  send({ kind: 'matched', result: matched.result }, buffersOf(matched.result));
}

/** Asks for rows of the data set, whose images are listed first, then for those of both sides, and reads each as soon as the data set is read. */
async function matchFetched({ addresses, token }: MatchAddresses): Promise<Matched> {
  const annotations = openFile(addresses.annotations, token);
  await annotations.rows;
  const [left, right] = [openFile(addresses.left, token), openFile(addresses.right, token)];
  const dataset = readFile(annotations, readDatasetRows, readDataset).then(read => {
    send({ kind: 'images', images: read.content.images.map(listedImage) });
    return read;
  });
  const readSide = async (file: FetchedFile): Promise<ReadFile<ObjectColumns>> => {
    const [{ content: known }] = await Promise.all([dataset, file.rows]);
    return readFile(
      file,
      bytes => readDetectionRows(bytes, known),
      bytes => readDetections(bytes, known),
    );
  };
  const [known, one, other] = await Promise.all([dataset, readSide(left), readSide(right)]);
  maskFiles = { left: one.readBytes, right: other.readBytes, annotations: known.readBytes };
  return matchSides(known.content, [one.content, other.content]);
}

interface ReadFile<T> {
  readonly content: T;
  /** undefined where the content has the masks. */
  readonly readBytes: ReadBytes | undefined;
}

/** The file itself is read where rows cannot hold it. */
async function readFile<T>(
  file: FetchedFile,
  readRows: (bytes: ArrayBuffer) => T | undefined,
  read: (bytes: ArrayBuffer) => T,
): Promise<ReadFile<T>> {
  const content = readRows(await file.rows);
  if (content !== undefined) return { content, readBytes: file.readBytes };
  return { content: read(await file.whole()), readBytes: undefined };
}

function send(message: MatchAnswer, transfer: readonly ArrayBufferLike[] = []): void {
  postMessage(message, transfer as Transferable[] as never);
}
