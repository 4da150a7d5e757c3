/** The part of `capture` that runs one model on one sample and records its inputs and outputs. */
import { getDefined } from '../../src/base/invariant.js';
import type { JsonObject } from '../../src/base/json.js';
import { checkFinite } from '../../src/runtime/session/model-inputs.js';
import { openSession, type Session, type SessionOptions } from '../../src/runtime/session/session.js';
import { definePart } from '../../src/stage/context.js';
import { makeOpenOrReuse } from '../../src/stage/reuse-open.js';
import { readNpz } from '../../src/tensor/formats/npz.js';
import { writePartFiles } from './part-files.js';

export interface ModelManifest extends JsonObject {
  /** Content digest of the model without names. The names of its inputs and outputs follow, because the files contain them. */
  readonly model: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly optimization: SessionOptions['optimization'];
  readonly session: JsonObject;
}

/** Name of the part where one model is captured instead of a detector. */
export const PLAIN_PART = 'model';

export const modelPart = definePart<ModelManifest>({
  name: 'capture-model',
  version: 1,
  module: import.meta.url,
  runsModels: 'always',
  async run({ manifest, blobs, unkeyed, folder }) {
    const session = await getSession(manifest, getDefined(unkeyed.model, 'model'));
    const archive = await readNpz(getDefined(blobs.input, 'input'));
    const inputs = Object.fromEntries(manifest.inputs.map((name, index) => [name, archive.get(`${index}`)]));
    checkFinite(inputs);
    const outputs = await session.run(inputs, manifest.outputs);
    return writePartFiles(folder, { [PLAIN_PART]: { inputs, outputs, seen: undefined } });
  },
});

const reuse = makeOpenOrReuse<Session>();

/** The session stays open while samples of the same model follow one another. */
function getSession({ model, inputs, outputs, optimization }: ModelManifest, path: string): Promise<Session> {
  return reuse(JSON.stringify([model, inputs, outputs, optimization]), () => openSession(path, { optimization }));
}
