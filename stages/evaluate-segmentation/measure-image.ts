/** Compares the classes that a network gives the pixels of one image with the mask of the image. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { anyList, anyOf, integer, NULL, object, tuple } from '../../src/base/schema/build-schema.js';
import type { FromSchema } from '../../src/base/schema/from-schema.js';
import { readerOf } from '../../src/base/schema/schema-reader.js';
import { decodeIndices } from '../../src/detection/image/decode-indices.js';
import { type ImageNetworkSettings, runImageNetwork } from '../../src/detection/image-network.js';
import { findPixelClasses } from '../../src/detection/segmentation/classes-of-pixels.js';
import { countConfusion } from '../../src/detection/segmentation/confusion.js';
import type { Session } from '../../src/runtime/session/session.js';

export interface MeasureSettings extends ImageNetworkSettings {
  readonly mask: { readonly first: number; readonly ignore: readonly number[]; readonly values: Readonly<Record<string, number>> | null };
}

const MEASURED_SCHEMA = object({
  of: anyOf([integer(1), NULL], 'Number of classes; null if the network chose them.'),
  counts: anyList(tuple([integer(0), integer(0), integer(0)]), 'Labeled class, predicted class and pixels, in this order.'),
  outside: integer(0, 'Labeled pixels outside of the input.'),
});

export type MeasuredImage = FromSchema<typeof MEASURED_SCHEMA>;

export const readMeasured = readerOf(MEASURED_SCHEMA);

/** @throws DetectionError `pixel-scores`, `mask-decode`, `mask-size`, `mask-class`; as `runImageNetwork`. */
export async function measureImage(
  session: Session,
  { image, mask }: { readonly image: string; readonly mask: string },
  settings: MeasureSettings,
): Promise<MeasuredImage> {
  const labels = decodeIndices(await readFile(mask), basename(mask));
  const { output, placement } = await runImageNetwork(session, image, settings);
  const predicted = findPixelClasses(output, settings.output, placement);
  const { first, ignore, values } = settings.mask;
  const { counts, outside } = countConfusion(labels, predicted, { first, ignore, values: values ?? undefined }, basename(mask));
  return { of: predicted.of ?? null, counts: [...counts], outside };
}
