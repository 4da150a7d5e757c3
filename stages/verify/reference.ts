/** The reference detector of `verify`: its traces of images. With `values: all`, they are kept from one run of the stage to the next. */
import { readFile } from 'node:fs/promises';
import type { Detector } from '../../src/detection/detector/detector.js';
import { decodeTraced, type TracedImage } from '../../src/detection/detector/saved-trace.js';
import type { RgbImage } from '../../src/detection/image/decode-image.js';
import { sessionManifest } from '../../src/runtime/session/session.js';
import { rolesOfModels } from '../../src/stage/model-roles.js';
import { getInputRecord } from '../../src/stage/paths.js';
import { type ChosenImage, readImage } from './choose-images.js';
import { sizeOfFiles } from './file-sizes.js';
import type { VerifyJob } from './params.js';
import { type ReferenceManifest, referencePart, TRACE_FILE, takeComputed } from './reference-part.js';
import { openSide, type SideOptions } from './sides.js';

export interface ReferenceDetector extends Pick<Detector, 'parts' | 'close'> {
  /** @param pixels of the image, if they are known. @throws as `Detector.trace` and `decodeImage`. */
  trace(image: ChosenImage, pixels?: RgbImage): Promise<TracedImage>;
}

/** Of all models: a part keeps its sessions beside those of the candidate, which would share them. */
const MOST_BYTES = 64 << 20;

export async function openReference({ params, inputs }: VerifyJob, options: SideOptions): Promise<ReferenceDetector> {
  const detector = await openSide(inputs, 'reference', params.reference, options);
  return { ...detector, trace: (image, pixels) => traceImage(detector, image, pixels) };
}

async function traceImage(detector: Detector, { path }: ChosenImage, pixels?: RgbImage): Promise<TracedImage> {
  const image = pixels ?? (await readImage(path));
  return { image, trace: await detector.trace(image) };
}

/** A reference whose traces are kept; undefined where they are not. Its models are opened for images that no earlier run had. */
export function findKeptReference(job: VerifyJob, options: SideOptions): ReferenceDetector | undefined {
  const { params, inputs, context } = job;
  // Inner values are compared where something is tuned: there, saves change the candidate alone. They require the models of the parts.
  const parts = params.values === 'all' ? getInputRecord(inputs, 'reference') : {};
  if (params.values !== 'all' || (sizeOfFiles(Object.values(parts)) ?? Infinity) > MOST_BYTES) return undefined;
  const { definition, session } = options;
  const manifest: ReferenceManifest = {
    definition: definition.files,
    optimization: session.optimization,
    session: sessionManifest(session),
  };
  const blobs = rolesOfModels(parts);
  let opened: Promise<Detector> | undefined;
  return {
    parts: definition.parts,
    async trace(image) {
      const { files } = await context.memo(referencePart, { manifest, blobs: { ...blobs, image: image.path } });
      const [computed, kept] = [takeComputed(image.path), files[TRACE_FILE]];
      if (computed !== undefined) return computed;
      if (kept !== undefined) {
        const saved = decodeTraced(await readFile(kept));
        return { trace: saved.trace, image: saved.image ?? (await readImage(image.path)) };
      }
      opened ??= openSide(inputs, 'reference', params.reference, options);
      return traceImage(await opened, image);
    },
    close: async () => (await opened)?.close(),
  };
}
