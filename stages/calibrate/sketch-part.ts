/** What do one sample's activations look like? One inference, kept per model, input and platform class. */
import { join } from 'node:path';
import { getDefined } from '../../src/base/invariant.js';
import type { JsonObject } from '../../src/base/json.js';
import { getValue } from '../../src/onnx/ir/edit.js';
import type { Model } from '../../src/onnx/ir/model.js';
import { readModel } from '../../src/onnx/serde/model-file.js';
import { encodeSampleSketches } from '../../src/quant/model-sketches.js';
import { openSketcher, type Sketcher } from '../../src/quant/sketch-model.js';
import { definePart } from '../../src/stage/context.js';
import { writeJsonFile } from '../../src/stage/json-file.js';
import { readInput } from './input-file.js';

export interface SketchManifest extends JsonObject {
  /** Content digest of the model, names left out. */
  readonly model: string;
  readonly session: JsonObject;
}

export const SKETCH_FILE = 'sketches.json';

/** How much of the activations is held at once. The result does not depend on it. */
const BUDGET_BYTES = 32 << 20;
/** RoIs that the budget is divided for; batches are usually as long or shorter. */
const FREE_DIM = 50;

export const sketchPart = definePart<SketchManifest>({
  name: 'calibrate-sketch',
  version: 1,
  module: import.meta.url,
  runsModels: 'always',
  async run({ manifest, blobs, unkeyed, folder }) {
    const { model, sketcher } = await reuseSketcher(manifest.model, getDefined(unkeyed.model, 'model'));
    const [input] = model.graph.inputs.map(id => getValue(model.graph, id)).filter(value => value.constant === undefined);
    const tensor = await readInput(getDefined(blobs.input, 'input'));
    const sketches = await sketcher.sample({ [getDefined(input, 'input of the model').name]: tensor });
    await writeJsonFile(join(folder, SKETCH_FILE), encodeSampleSketches(sketches));
    return [SKETCH_FILE];
  },
});

let kept: { readonly digest: string; readonly model: Model; readonly sketcher: Sketcher } | undefined;

/** The sessions stay open from one sample to the next of the same model. */
async function reuseSketcher(digest: string, path: string): Promise<{ readonly model: Model; readonly sketcher: Sketcher }> {
  if (kept?.digest === digest) return kept;
  await kept?.sketcher.close();
  kept = undefined;
  const model = await readModel(path);
  kept = { digest, model, sketcher: openSketcher(model, { budgetBytes: BUDGET_BYTES, freeDim: FREE_DIM }) };
  return kept;
}
