/** The part of `verify` that runs the detector of the reference on one image: not again for a save that changes the candidate alone. Inner values are not in it. */
import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { getDefined } from '../../src/base/invariant.js';
import type { JsonObject } from '../../src/base/json.js';
import type { Detector } from '../../src/detection/detector/detector.js';
import type { DefinitionFiles } from '../../src/detection/detector/detector-family.js';
import { encodeTraced, sizeOfTraced, type TracedImage } from '../../src/detection/detector/saved-trace.js';
import { decodeImage } from '../../src/detection/image/decode-image.js';
import { openDetector } from '../../src/detection/open-detector.js';
import { readDefinition } from '../../src/detection/read-definition.js';
import type { SessionOptions } from '../../src/runtime/session/session.js';
import { definePart, type PartJob } from '../../src/stage/context.js';
import { modelsOfRoles } from '../../src/stage/model-roles.js';
import { makeOpenOrReuse, stampFile } from '../../src/stage/reuse-open.js';

export interface ReferenceManifest extends JsonObject {
  /** `files` of the detector definition: host recipe, config and fit policy. */
  readonly definition: DefinitionFiles & JsonObject;
  readonly optimization: SessionOptions['optimization'];
  /** All other session options that can change results. */
  readonly session: JsonObject;
}

/** Output file: the detector's trace of the image, and the decoded image if both are small enough. */
export const TRACE_FILE = 'trace.safetensors';

/** Output file without content, instead of the other one. */
export const TOO_LARGE_FILE = 'too-large';

/** Of one image: reading and verifying more takes about as long as the runs. */
const MOST_KEPT_BYTES = 16 << 20;

/** Takes the blob `image`, and those of the models by `rolesOfModels`. */
export const referencePart = definePart<ReferenceManifest>({
  name: 'verify-reference',
  version: 2,
  module: import.meta.url,
  runsModels: 'always',
  async run(job) {
    const detector = await getReference(job);
    const path = getDefined(job.blobs.image, 'image');
    const image = await decodeImage(await readFile(path), basename(path));
    const traced = { image, trace: await detector.trace(image) };
    computed = { path, traced };
    const { trace } = traced;
    const saved = [traced, { trace }].find(one => sizeOfTraced(one) <= MOST_KEPT_BYTES);
    const file = saved === undefined ? TOO_LARGE_FILE : TRACE_FILE;
    await writeFile(join(job.folder, file), saved === undefined ? '' : encodeTraced(saved));
    return [file];
  },
});

/** What `run` computed last in this process. */
let computed: { readonly path: string; readonly traced: TracedImage } | undefined;

/** The traced image, if this process has just run the part on it: its file need not be read. */
export function takeComputed(path: string): TracedImage | undefined {
  const traced = computed?.path === path ? computed.traced : undefined;
  computed = undefined;
  return traced;
}

/** The sessions stay open while images of the same detector follow one another. */
const reuse = makeOpenOrReuse<Detector>();

async function getReference({ manifest, blobs }: PartJob<ReferenceManifest>): Promise<Detector> {
  const parts = modelsOfRoles(blobs);
  const stamps = await Promise.all(Object.entries(parts).map(async ([name, path]) => [name, ...(await stampFile(path))]));
  return reuse(JSON.stringify([manifest, stamps]), async () => {
    const { definition, optimization } = manifest;
    const options = { optimization, memoryArena: 'none' } as const;
    return openDetector({ definition: readDefinition(definition), models: { kind: 'parts', parts } }, options);
  });
}
