/** The error of a model's outputs against those of another, such as a quantized model's against float, over samples. */

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Json } from '../../base/json.js';
import { anyOf, mapOf, NULL, number } from '../../base/schema/build-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';
import { readerOf } from '../../base/schema/schema-reader.js';
import { fixed } from '../../base/text/fixed.js';
import { getValue } from '../../onnx/ir/edit.js';
import type { Model } from '../../onnx/ir/model.js';
import { openSweep } from '../../runtime/capture/sweep.js';
import type { NamedTensors } from '../../runtime/session/model-inputs.js';
import { type Comparison, compareArrays, mergeComparisons, NO_COMPARISON, sqnrDbOf } from '../../tensor/compare.js';
import type { Tensor } from '../../tensor/tensor.js';
import { type KeptDocument, parseKept } from '../integers/parse-kept.js';

export interface ComparedModel {
  readonly model: Model;
  /** Inputs of each sample, by the names of the model. */
  readonly samples: readonly (() => Promise<NamedTensors>)[];
}

const OUTPUT_SQNR = mapOf(anyOf([NULL, number()]));

/** SQNR in dB per output; null without error. */
export type OutputSqnr = FromSchema<typeof OUTPUT_SQNR>;

const reader = readerOf(OUTPUT_SQNR);

/** @throws QuantError with the code of `document`. */
export function parseOutputSqnr(json: Json, document: KeptDocument): OutputSqnr {
  return parseKept(json, reader, document);
}

/** Compares float32 outputs by position; names are those of `float`. @param folder an empty folder for intermediate values. */
export async function measureOutputSqnr(float: ComparedModel, quantized: ComparedModel, folder: string): Promise<OutputSqnr> {
  const [own, other] = [await openOutputs(float, join(folder, 'float')), await openOutputs(quantized, join(folder, 'quantized'))];
  const sums = new Map<string, Comparison>();
  try {
    for (const sample of float.samples.keys()) {
      const [expected, actual] = [await own.run(sample), await other.run(sample)];
      for (const [position, { name, tensor }] of expected.entries()) {
        const partner = actual[position]?.tensor;
        if (tensor?.dtype !== 'float32' || partner?.dtype !== 'float32') continue;
        sums.set(name, mergeComparisons(sums.get(name) ?? NO_COMPARISON, compareArrays(tensor.data, partner.data)));
      }
    }
  } finally {
    await Promise.all([own.close(), other.close()]);
  }
  return Object.fromEntries(
    [...sums].map(([name, sum]) => {
      const sqnr = sqnrDbOf(sum);
      return [name, typeof sqnr === 'number' && Number.isFinite(sqnr) ? sqnr : null];
    }),
  );
}

async function openOutputs({ model, samples }: ComparedModel, folder: string) {
  await mkdir(folder);
  const order = [...model.graph.nodes.values()];
  const computed = model.graph.outputs.filter(id => getValue(model.graph, id).producer !== undefined);
  const stretch = openSweep({ model, order, samples, folder }).open(order.length, computed);
  return {
    /** Every output in its place; no tensor for those that are inputs or constants. */
    async run(sample: number): Promise<readonly { readonly name: string; readonly tensor: Tensor | undefined }[]> {
      const values = await stretch.run(sample);
      return model.graph.outputs.map(id => ({ name: getValue(model.graph, id).name, tensor: values.get(id) }));
    },
    close: () => stretch.close('repeat'),
  };
}

/** One line per output, and a warning for each that became worse. */
export function describeOutputs(before: OutputSqnr, after: OutputSqnr, method: string): readonly (readonly ['info' | 'warning', string])[] {
  const names = Object.keys(before);
  const worse = names.filter(name => toNumber(after[name]) < toNumber(before[name]));
  return [
    ...names.map(name => ['info', `output "${name}": SQNR ${formatDb(before[name])} before, ${formatDb(after[name])} after`] as const),
    ...worse.map(
      name =>
        [
          'warning',
          `output "${name}" has an SQNR of ${formatDb(after[name])} after the ${method}, and ${formatDb(before[name])} before: use more samples, or the model without it`,
        ] as const,
    ),
  ];
}

/** For reports. */
export function listOutputs(before: OutputSqnr, after: OutputSqnr) {
  return Object.entries(before).map(([name, sqnrDb]) => ({ name, sqnrDb: { before: sqnrDb, after: after[name] ?? null } }));
}

function toNumber(sqnrDb: number | null | undefined): number {
  return sqnrDb ?? Number.POSITIVE_INFINITY;
}

function formatDb(sqnrDb: number | null | undefined): string {
  return sqnrDb === null || sqnrDb === undefined ? 'without error' : `${fixed(sqnrDb, 1)} dB`;
}
