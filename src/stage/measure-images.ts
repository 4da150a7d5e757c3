/** The loop over the images of an evaluation. */
import type { Context } from './context.js';
import { takeInOrder } from './in-order.js';
import { nameSample } from './name-sample.js';

interface MeasureImages<Image, Result> {
  /** Images under way at once. */
  readonly atOnce: number;
  readonly measure: (image: Image) => Promise<Result>;
}

/** One result per image, in the order of `images`. Reports progress; errors that input can cause name the image. @throws what `measure` throws; when the stage is stopped. */
export async function measureImages<Image extends { readonly fileName: string }, Result>(
  images: readonly Image[],
  { signal, progress }: Pick<Context, 'signal' | 'progress'>,
  { atOnce, measure }: MeasureImages<Image, Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  await takeInOrder(images, {
    atOnce,
    begin: image =>
      nameSample(`image ${image.fileName}`, async () => {
        signal.throwIfAborted();
        return measure(image);
      }),
    take: (result, _image, index) => {
      results.push(result);
      progress(index + 1, images.length, 'images');
    },
  });
  return results;
}
