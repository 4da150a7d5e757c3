/** The part of `round-weights` that compares the outputs of a model with those of the float model. */
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { getDefined } from '../../src/base/invariant.js';
import type { JsonObject } from '../../src/base/json.js';
import { readModel } from '../../src/onnx/serde/model-file.js';
import { measureOutputSqnr } from '../../src/quant/recovery/output-errors.js';
import { feedsOf, parseSampleList } from '../../src/runtime/capture/sample-files.js';
import { definePart } from '../../src/stage/context.js';
import { readJsonFile, writeJsonFile } from '../../src/stage/json-file.js';

export interface OutputsManifest extends JsonObject {
  /** Content digests, without names; the names of outputs follow. */
  readonly float: string;
  readonly quantized: string;
  readonly outputs: readonly string[];
  readonly samples: string;
  readonly arrays: readonly string[];
  readonly session: JsonObject;
}

export const OUTPUTS_FILE = 'outputs.json';

/** Writes the SQNR in dB of every float32 output, by name; null without error. */
export const outputsPart = definePart<OutputsManifest>({
  name: 'round-weights-outputs',
  version: 1,
  module: import.meta.url,
  runsModels: 'always',
  async run({ unkeyed, folder }) {
    const list = parseSampleList(await readJsonFile(getDefined(unkeyed.samples, 'samples')));
    const [float, quantized] = [await readModel(getDefined(unkeyed.float, 'float')), await readModel(getDefined(unkeyed.model, 'model'))];
    const scratch = await mkdtemp(join(getDefined(unkeyed.scratch, 'scratch'), 'outputs-'));
    const figures = await measureOutputSqnr(
      { model: float, samples: feedsOf(float, list) },
      { model: quantized, samples: feedsOf(quantized, list) },
      scratch,
    );
    await rm(scratch, { recursive: true, force: true });
    await writeJsonFile(join(folder, OUTPUTS_FILE), figures);
    return [OUTPUTS_FILE];
  },
});
