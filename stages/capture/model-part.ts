/** What does a model give for one sample? One run, kept per model, names, input and platform class. */
import { getDefined } from '../../src/base/invariant.js';
import type { JsonObject } from '../../src/base/json.js';
import { checkFinite } from '../../src/runtime/session/model-inputs.js';
import { openSession, type Session, type SessionOptions } from '../../src/runtime/session/session.js';
import { definePart } from '../../src/stage/context.js';
import { readNpz } from '../../src/tensor/formats/npz.js';
import { writePartFiles } from './part-files.js';

export interface ModelManifest extends JsonObject {
  /** Content digest of the model, names left out; and the names, which stand in the files. */
  readonly model: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly optimization: SessionOptions['optimization'];
  readonly session: JsonObject;
}

/** The part's name where there is no detector. */
export const PLAIN_PART = 'model';

export const modelPart = definePart<ModelManifest>({
  name: 'capture-model',
  version: 1,
  module: import.meta.url,
  runsModels: 'always',
  async run({ manifest, blobs, unkeyed, folder }) {
    const session = await reuseSession(manifest, getDefined(unkeyed.model, 'model'));
    const archive = await readNpz(getDefined(blobs.input, 'input'));
    const inputs = Object.fromEntries(manifest.inputs.map((name, index) => [name, archive.get(`${index}`)]));
    checkFinite(inputs);
    const outputs = await session.run(inputs, manifest.outputs);
    return writePartFiles(folder, { [PLAIN_PART]: { inputs, outputs, seen: undefined } });
  },
});

let kept: { readonly key: string; readonly session: Session } | undefined;

/** The session stays open from one sample to the next of the same model. */
async function reuseSession({ model, inputs, outputs, optimization }: ModelManifest, path: string): Promise<Session> {
  const key = JSON.stringify([model, inputs, outputs, optimization]);
  if (kept?.key === key) return kept.session;
  await kept?.session.close();
  kept = undefined;
  kept = { key, session: await openSession(path, { optimization }) };
  return kept.session;
}
