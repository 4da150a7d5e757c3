/** The part of `verify` that runs the detector of the reference on one image: not again for a save that changes the candidate alone. Inner values are not in it. */
import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { getDefined } from '../../src/base/invariant.js';
import type { JsonObject } from '../../src/base/json.js';
import type { Detector, ImageTrace } from '../../src/detection/detector/detector.js';
import type { DefinitionFiles } from '../../src/detection/detector/detector-family.js';
import { decodeImage } from '../../src/detection/image/decode-image.js';
import { openDetector } from '../../src/detection/open-detector.js';
import { readDefinition } from '../../src/detection/read-definition.js';
import { encodeRuns, type Recorder, recordRuns, sizeOfRuns } from '../../src/runtime/session/recorded-runs.js';
import { openSession, type SessionOptions } from '../../src/runtime/session/session.js';
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

/** Output file: the recorded runs of all models of the reference. */
export const RUNS_FILE = 'runs.safetensors';

/** Output file without content, instead of the other one. */
export const TOO_LARGE_FILE = 'too-large';

/** Of one image: reading and verifying more takes about as long as the runs. */
const MOST_KEPT_BYTES = 16 << 20;

/** Takes the blob `image`, and those of the models by `rolesOfModels`. */
export const referencePart = definePart<ReferenceManifest>({
  name: 'verify-reference',
  version: 1,
  module: import.meta.url,
  runsModels: 'always',
  async run(job) {
    const { detector, recorder } = await getReference(job);
    const path = getDefined(job.blobs.image, 'image');
    const trace = await detector.trace(await decodeImage(await readFile(path), basename(path)));
    const runs = recorder.take();
    computed = { path, trace };
    const file = sizeOfRuns(runs) > MOST_KEPT_BYTES ? TOO_LARGE_FILE : RUNS_FILE;
    await writeFile(join(job.folder, file), file === RUNS_FILE ? encodeRuns(runs) : '');
    return [file];
  },
});

/** What `run` computed last in this process. */
let computed: { readonly path: string; readonly trace: ImageTrace } | undefined;

/** The trace of the image, if this process has just run the part on it: its runs need not be replayed. */
export function takeComputed(path: string): ImageTrace | undefined {
  const trace = computed?.path === path ? computed.trace : undefined;
  computed = undefined;
  return trace;
}

interface Reference {
  readonly detector: Detector;
  readonly recorder: Recorder;
  close(): Promise<void>;
}

/** The sessions stay open while images of the same detector follow one another. */
const reuse = makeOpenOrReuse<Reference>();

async function getReference({ manifest, blobs }: PartJob<ReferenceManifest>): Promise<Reference> {
  const parts = modelsOfRoles(blobs);
  const stamps = await Promise.all(Object.entries(parts).map(async ([name, path]) => [name, ...(await stampFile(path))]));
  return reuse(JSON.stringify([manifest, stamps]), async () => {
    const { definition, optimization } = manifest;
    const recorder = recordRuns(openSession);
    const options = { optimization, memoryArena: 'none', openModel: recorder.open } as const;
    const detector = await openDetector({ definition: readDefinition(definition), models: { kind: 'parts', parts } }, options);
    return { detector, recorder, close: detector.close };
  });
}
