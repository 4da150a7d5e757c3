/** The error of a model's outputs against those of another, such as a quantized model's against float, over samples. */

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getDefined } from '../../base/invariant.js';
import type { Json } from '../../base/json.js';
import { anyOf, mapOf, NULL, number } from '../../base/schema/build-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';
import { readerOf } from '../../base/schema/schema-reader.js';
import { fixed } from '../../base/text/fixed.js';
import { getValue } from '../../onnx/ir/edit.js';
import type { Model } from '../../onnx/ir/model.js';
import { openSweep } from '../../runtime/capture/sweep.js';
import type { NamedTensors } from '../../runtime/session/model-inputs.js';
import { type Comparison, compareArrays, limitDb, mergeComparisons, NO_COMPARISON, sqnrDbOf } from '../../tensor/compare.js';
import { decodeNpy, encodeNpy } from '../../tensor/formats/npy.js';
import type { Tensor } from '../../tensor/tensor.js';
import { type KeptDocument, parseKept } from '../integers/parse-kept.js';

export interface ComparedModel {
  readonly model: Model;
  /** Inputs of each sample, by the names of the model. */
  readonly samples: readonly (() => Promise<NamedTensors>)[];
}

const OUTPUT_SQNR = mapOf(anyOf([NULL, number()]));

/** SQNR in dB per output; null without error, −998 for noise without signal and for NaN or infinity on one side alone. */
export type OutputSqnr = FromSchema<typeof OUTPUT_SQNR>;

const reader = readerOf(OUTPUT_SQNR);

/** @throws QuantError with the code of `document`. */
export function parseOutputSqnr(json: Json, document: KeptDocument): OutputSqnr {
  return parseKept(json, reader, document);
}

/** Outputs of a model that wait in files. */
export interface SavedOutputs {
  readonly samples: number;
  /** Of a sample, the float32 outputs that the model computes, each in its place. */
  read(sample: number): Promise<readonly NamedOutput[]>;
}

interface NamedOutput {
  readonly name: string;
  readonly tensor: Tensor | undefined;
}

/**
 * Compares float32 outputs by position; names are those of `float`. One model is open at a time.
 * @param folder an empty folder for intermediate values and outputs.
 */
export async function measureOutputSqnr(float: ComparedModel, quantized: ComparedModel, folder: string): Promise<OutputSqnr> {
  return compareWithSaved(await saveOutputs(float, await makeFolder(folder, 'float')), quantized, await makeFolder(folder, 'quantized'));
}

/** Runs every sample. @param folder an empty folder, which keeps the outputs. */
export async function saveOutputs(float: ComparedModel, folder: string): Promise<SavedOutputs> {
  const saved = await makeFolder(folder, 'outputs');
  const fileOf = (sample: number, position: number): string => join(saved, `${sample}-${position}.npy`);
  const kept = new Map<number, readonly { readonly name: string; readonly isSaved: boolean }[]>();
  await runOutputs(float, await makeFolder(folder, 'values'), async (sample, outputs) => {
    for (const [position, { tensor }] of outputs.entries())
      if (tensor?.dtype === 'float32') await writeFile(fileOf(sample, position), encodeNpy(tensor));
    kept.set(
      sample,
      outputs.map(({ name, tensor }) => ({ name, isSaved: tensor?.dtype === 'float32' })),
    );
  });
  return {
    samples: float.samples.length,
    async read(sample) {
      const outputs: NamedOutput[] = [];
      for (const [position, { name, isSaved }] of getDefined(kept.get(sample), 'outputs of a sample').entries())
        outputs.push({ name, tensor: isSaved ? decodeNpy(await readFile(fileOf(sample, position))) : undefined });
      return outputs;
    },
  };
}

/** Compares as `measureOutputSqnr`. @param folder an empty folder for intermediate values. */
export async function compareWithSaved(float: SavedOutputs, quantized: ComparedModel, folder: string): Promise<OutputSqnr> {
  const sums = await sumErrors(float, quantized, folder);
  return Object.fromEntries(
    [...sums].map(([name, sum]) => {
      const sqnr = sqnrDbOf(sum);
      return [name, sqnr === Number.POSITIVE_INFINITY ? null : limitDb(sqnr)];
    }),
  );
}

/** Float32 outputs by the names of the float model. */
export type FloatOutputs = Readonly<Record<string, Tensor<'float32'>>>;

/**
 * Sums over all samples, by name.
 * @param split what is compared in place of the outputs of a sample, such as the kinds of numbers in them.
 */
export async function sumErrors(
  float: SavedOutputs,
  quantized: ComparedModel,
  folder: string,
  split: (outputs: FloatOutputs) => FloatOutputs = outputs => outputs,
): Promise<ReadonlyMap<string, Comparison>> {
  const sums = new Map<string, Comparison>();
  await runOutputs(quantized, folder, async (sample, actual) => {
    const [own, other]: [Record<string, Tensor<'float32'>>, Record<string, Tensor<'float32'>>] = [{}, {}];
    for (const [position, { name, tensor }] of (await float.read(sample)).entries()) {
      const partner = actual[position]?.tensor;
      if (tensor?.dtype !== 'float32' || partner?.dtype !== 'float32') continue;
      own[name] = tensor;
      other[name] = partner;
    }
    const candidates = split(other);
    for (const [name, { data }] of Object.entries(split(own)))
      sums.set(name, mergeComparisons(sums.get(name) ?? NO_COMPARISON, compareArrays(data, getDefined(candidates[name], name).data)));
  });
  return sums;
}

/** Gives `use` every output of every sample in its place; no tensor for those that are inputs or constants. */
async function runOutputs(
  { model, samples }: ComparedModel,
  folder: string,
  use: (sample: number, outputs: readonly NamedOutput[]) => Promise<void>,
): Promise<void> {
  const order = [...model.graph.nodes.values()];
  const computed = model.graph.outputs.filter(id => getValue(model.graph, id).producer !== undefined);
  const stretch = openSweep({ model, order, samples, folder }).open(order.length, computed);
  try {
    for (const sample of samples.keys()) {
      const values = await stretch.run(sample);
      await use(
        sample,
        model.graph.outputs.map(id => ({ name: getValue(model.graph, id).name, tensor: values.get(id) })),
      );
    }
  } finally {
    await stretch.close('repeat');
  }
}

async function makeFolder(parent: string, name: string): Promise<string> {
  const folder = join(parent, name);
  await mkdir(folder);
  return folder;
}

/** A change by less shows in no figure of one decimal, and is that of the samples. */
const VISIBLE_DB = 0.1;

/** Whether an SQNR fell visibly. */
export function isWorseOutput(before: number | null | undefined, after: number | null | undefined): boolean {
  const [from, to] = [toNumber(before), toNumber(after)];
  return to < from && (from === Number.POSITIVE_INFINITY || from - to >= VISIBLE_DB);
}

/** One line per output, and a warning for each that became visibly worse. @param help what can be done about it. */
export function describeOutputs(
  before: OutputSqnr,
  after: OutputSqnr,
  method: string,
  help: string,
): readonly (readonly ['info' | 'warning', string])[] {
  const names = Object.keys(before);
  const worse = names.filter(name => isWorseOutput(before[name], after[name]));
  return [
    ...names.map(name => ['info', `output "${name}": SQNR ${formatDb(before[name])} before, ${formatDb(after[name])} after`] as const),
    ...worse.map(
      name =>
        [
          'warning',
          `output "${name}" has an SQNR of ${formatDb(after[name])} after the ${method}, and ${formatDb(before[name])} before: use ${help}`,
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
