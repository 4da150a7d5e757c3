/** The exact cost of layers: errors of the outputs with a layer back in float, all others quantized. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getDefined } from '../../base/invariant.js';
import type { Model, ValueId } from '../../onnx/ir/model.js';
import { type OutputRunner, openOutputs } from '../../runtime/capture/run-outputs.js';
import type { NamedTensors } from '../../runtime/session/model-inputs.js';
import { type Comparison, compareArrays, mergeComparisons, NO_COMPARISON } from '../../tensor/compare.js';
import { decodeNpy, encodeNpy } from '../../tensor/formats/npy.js';
import type { SteppedModels } from './find-steps.js';
import { restoreSteps } from './restore-steps.js';

export interface OutputMeter {
  /** The errors of each float32 output, by its name in the float model, with these values of the float model restored. @throws RuntimeError `model-load`, `model-run`. */
  measure(restored: ReadonlySet<ValueId>): Promise<ReadonlyMap<string, Comparison>>;
  /** The same for another quantized model of the same network. */
  measureModel(model: Model): Promise<ReadonlyMap<string, Comparison>>;
}

export interface MeterRequest {
  readonly models: SteppedModels;
  /** Inputs by the names of each model. */
  readonly samples: {
    readonly float: readonly (() => Promise<NamedTensors>)[];
    readonly quantized: readonly (() => Promise<NamedTensors>)[];
  };
  /** An empty folder: the outputs of the float model wait here. */
  readonly folder: string;
}

/** Runs the float model once per sample. */
export async function openOutputMeter({ models, samples, folder }: MeterRequest): Promise<OutputMeter> {
  const names = models.float.graph.outputs.map(id => getDefined(models.float.graph.values.get(id), 'output').name);
  const fileOf = (sample: number, output: number): string => join(folder, `${sample}-${output}.npy`);
  const known = new Set<number>();
  await withOutputs(models.float, async runner => {
    for (const [index, sample] of samples.float.entries()) {
      for (const [output, tensor] of (await runner.run(await sample())).entries()) {
        if (tensor?.dtype !== 'float32') continue;
        known.add(output);
        await writeFile(fileOf(index, output), encodeNpy(tensor));
      }
    }
  });
  const measureModel = (model: Model): Promise<ReadonlyMap<string, Comparison>> =>
    withOutputs(model, async runner => {
      const sums = new Map<string, Comparison>();
      for (const [index, sample] of samples.quantized.entries()) {
        const actual = await runner.run(await sample());
        for (const output of known) {
          const [name, tensor] = [getDefined(names[output], 'name'), actual[output]];
          const expected = decodeNpy(await readFile(fileOf(index, output)));
          if (tensor?.dtype !== 'float32' || expected.dtype !== 'float32') continue;
          sums.set(name, mergeComparisons(sums.get(name) ?? NO_COMPARISON, compareArrays(expected.data, tensor.data)));
        }
      }
      return sums;
    });
  return { measureModel, measure: restored => measureModel(restoreSteps(models, restored)) };
}

async function withOutputs<T>(model: Model, work: (runner: OutputRunner) => Promise<T>): Promise<T> {
  const runner = openOutputs(model);
  try {
    return await work(runner);
  } finally {
    await runner.close();
  }
}
