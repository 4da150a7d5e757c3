/** The part of `correct-biases` that compares the outputs of a model with those of the float model. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { getDefined } from '../../src/base/invariant.js';
import type { JsonObject } from '../../src/base/json.js';
import { getValue } from '../../src/onnx/ir/edit.js';
import type { Model, ValueId } from '../../src/onnx/ir/model.js';
import { readModel } from '../../src/onnx/serde/model-file.js';
import { openSweep } from '../../src/runtime/capture/sweep.js';
import { definePart } from '../../src/stage/context.js';
import { readJsonFile, writeJsonFile } from '../../src/stage/json-file.js';
import { type Comparison, compareArrays, mergeComparisons, NO_COMPARISON, sqnrDbOf } from '../../src/tensor/compare.js';
import type { Tensor } from '../../src/tensor/tensor.js';
import { feedsOf, type SampleList } from './samples.js';

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
  name: 'correct-biases-outputs',
  version: 1,
  module: import.meta.url,
  runsModels: 'always',
  async run({ unkeyed, folder }) {
    const list = (await readJsonFile(getDefined(unkeyed.samples, 'samples'))) as SampleList;
    const scratch = await mkdtemp(join(getDefined(unkeyed.scratch, 'scratch'), 'outputs-'));
    const float = await openOutputs(getDefined(unkeyed.float, 'float'), list, join(scratch, 'float'));
    const quantized = await openOutputs(getDefined(unkeyed.model, 'model'), list, join(scratch, 'quantized'));
    const sums: Record<string, Comparison> = {};
    for (const sample of list.files.keys()) {
      const [own, other] = [await float.run(sample), await quantized.run(sample)];
      for (const [name, tensor] of Object.entries(own)) {
        const partner = other[name];
        if (tensor.dtype !== 'float32' || partner?.dtype !== 'float32') continue;
        sums[name] = mergeComparisons(sums[name] ?? NO_COMPARISON, compareArrays(tensor.data, partner.data));
      }
    }
    await Promise.all([float.close(), quantized.close()]);
    await rm(scratch, { recursive: true, force: true });
    const figures = Object.entries(sums).map(([name, sum]) => {
      const sqnr = sqnrDbOf(sum);
      return [name, typeof sqnr === 'number' && Number.isFinite(sqnr) ? sqnr : null] as const;
    });
    await writeJsonFile(join(folder, OUTPUTS_FILE), Object.fromEntries(figures));
    return [OUTPUTS_FILE];
  },
});

async function openOutputs(path: string, list: SampleList, folder: string) {
  const model = await readModel(path);
  await mkdir(folder);
  const order = [...model.graph.nodes.values()];
  const wanted = computedOutputs(model);
  const stretch = openSweep({ model, order, samples: feedsOf(model, list), folder }).open(order.length, wanted);
  return {
    async run(sample: number): Promise<Readonly<Record<string, Tensor>>> {
      const values = await stretch.run(sample);
      return Object.fromEntries([...values].map(([id, tensor]) => [getValue(model.graph, id).name, tensor]));
    },
    close: () => stretch.close('repeat'),
  };
}

function computedOutputs({ graph }: Model): readonly ValueId[] {
  return graph.outputs.filter(id => getValue(graph, id).producer !== undefined);
}
