/** The reference detector of `verify`: its traces of images. With `values: all`, the runs of its models are kept from one run of the stage to the next. */
import { readFile } from 'node:fs/promises';
import type { Detector, ImageTrace } from '../../src/detection/detector/detector.js';
import type { RgbImage } from '../../src/detection/image/decode-image.js';
import { openDetector } from '../../src/detection/open-detector.js';
import { decodeRuns, replayRuns } from '../../src/runtime/session/recorded-runs.js';
import { sessionManifest } from '../../src/runtime/session/session.js';
import { rolesOfModels } from '../../src/stage/model-roles.js';
import { getInputRecord } from '../../src/stage/paths.js';
import type { ChosenImage } from './choose-images.js';
import { sizeOfFiles } from './file-sizes.js';
import type { VerifyJob } from './params.js';
import { type ReferenceManifest, RUNS_FILE, referencePart, takeComputed } from './reference-part.js';
import { openSide, type SideOptions } from './sides.js';

export interface ReferenceDetector extends Pick<Detector, 'parts' | 'close'> {
  /** @throws as `Detector.trace`. */
  trace(image: ChosenImage, pixels: RgbImage): Promise<ImageTrace>;
}

/** Of all models: a part keeps its sessions beside those of the candidate, which would share them. */
const MOST_BYTES = 64 << 20;

export async function openReference(job: VerifyJob, options: SideOptions): Promise<ReferenceDetector> {
  const { params, inputs } = job;
  const open = () => openSide(inputs, 'reference', params.reference, options);
  // Inner values are compared where something is tuned: there, saves change the candidate alone. They require the models of the parts.
  const parts = params.values === 'all' ? getInputRecord(inputs, 'reference') : {};
  if (params.values === 'all' && (sizeOfFiles(Object.values(parts)) ?? Infinity) <= MOST_BYTES) return openKept(job, parts, options, open);
  const detector = await open();
  return { ...detector, trace: (_, pixels) => detector.trace(pixels) };
}

/** @param open opens the detector, for images whose runs are too large to keep. */
function openKept(
  { context }: VerifyJob,
  parts: Readonly<Record<string, string>>,
  { definition, session }: SideOptions,
  open: () => Promise<Detector>,
): ReferenceDetector {
  const { optimization } = session;
  const manifest: ReferenceManifest = { definition: definition.files, optimization, session: sessionManifest(session) };
  const models = { kind: 'parts', parts } as const;
  const blobs = rolesOfModels(parts);
  let opened: Promise<Detector> | undefined;
  const traceKept = async (runs: string, pixels: RgbImage): Promise<ImageTrace> => {
    const openModel = replayRuns(decodeRuns(await readFile(runs)));
    return (await openDetector({ definition, models }, { ...session, openModel })).trace(pixels);
  };
  return {
    parts: definition.parts,
    async trace({ path }, pixels) {
      const { files } = await context.memo(referencePart, { manifest, blobs: { ...blobs, image: path } });
      const [computed, runs] = [takeComputed(path), files[RUNS_FILE]];
      if (computed !== undefined) return computed;
      if (runs !== undefined) return traceKept(runs, pixels);
      opened ??= open();
      return (await opened).trace(pixels);
    },
    close: async () => (await opened)?.close(),
  };
}
