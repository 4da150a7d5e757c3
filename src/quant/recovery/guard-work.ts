/** The part of a stage's work that measures one trial of `guardByOutputs`, and the trials of changed constants. */
import { join } from 'node:path';
import { digestFile, digestJson } from '../../base/digest.js';
import { getDefined } from '../../base/invariant.js';
import type { Json } from '../../base/json.js';
import { mapOf, number } from '../../base/schema/build-schema.js';
import { readerOf } from '../../base/schema/schema-reader.js';
import { digestModelContent } from '../../onnx/analysis/content-digest.js';
import { getValue } from '../../onnx/ir/edit.js';
import type { Constant, Graph, Model, ValueId } from '../../onnx/ir/model.js';
import { readModel, writeModel } from '../../onnx/serde/model-file.js';
import { feedsOf, openSampleList } from '../../runtime/capture/sample-files.js';
import { type KeptDocument, parseKept } from '../integers/parse-kept.js';
import {
  type DescribedPair,
  makeValuesFolder,
  type OpenOutputs,
  type OutputsManifest,
  openFloatOutputs,
  outputNamesOf,
  type PairPaths,
} from './model-pair.js';
import { type FloatOutputs, sumErrors } from './output-errors.js';
import { GUARD_SAMPLES, type GuardReport, guardByOutputs, MOST_TRIALS, type OutputShares, sharesOf } from './output-guard.js';

export interface GuardManifest extends OutputsManifest {
  /** Digest of the files that split outputs into kinds; null without them. */
  readonly kinds: string | null;
}

export interface GuardRequest {
  readonly manifest: GuardManifest;
  readonly blobs: Readonly<Record<string, never>>;
  readonly unkeyed: PairPaths;
}

/** Splits outputs into kinds of numbers; the paths are those of a part. */
type OpenKinds = (paths: Readonly<Record<string, string>>) => Promise<(outputs: FloatOutputs) => FloatOutputs>;

/**
 * `compute` of a JSON part: noise relative to signal of every float32 output, on the first samples.
 * @param openOrReuse keeps the outputs of the float model from one trial to the next one, by key.
 */
export function guardWork(openOrReuse: (key: string, open: () => Promise<OpenOutputs>) => Promise<OpenOutputs>, openKinds: OpenKinds) {
  return async ({
    manifest,
    unkeyed,
  }: {
    readonly manifest: GuardManifest;
    readonly unkeyed: Readonly<Record<string, string>>;
  }): Promise<Json> => {
    const { float, samples, arrays, session } = manifest;
    const all = await openSampleList(getDefined(unkeyed.samples, 'samples'), getDefined(unkeyed.captured, 'captured'));
    const list = { ...all, files: all.files.slice(0, GUARD_SAMPLES) };
    const path = getDefined(unkeyed.float, 'float');
    const key = JSON.stringify([float, samples, arrays, session, path]);
    const outputs = await openOrReuse(key, () => openFloatOutputs(path, list));
    const model = await readModel(getDefined(unkeyed.model, 'model'));
    const values = await makeValuesFolder();
    try {
      return sharesOf(await sumErrors(outputs, { model, samples: feedsOf(model, list) }, values.folder, await openKinds(unkeyed)));
    } finally {
      await values.close();
    }
  };
}

const reader = readerOf(mapOf(number({ minimum: 0, maximum: 1 })));

/** A stage whose changes are guarded, if its param asks for it. */
export interface GuardedStage {
  readonly params: { readonly guard: 'layers' | 'outputs' };
  /** Paths of the ports `recipe` and `config`, whose files split outputs into kinds; undefined if nothing is connected. */
  readonly ports: { readonly recipe: string | undefined; readonly config: string | undefined };
  readonly context: {
    readonly scratch: string;
    readonly signal: AbortSignal;
    progress(done: number, total: number, what: string): void;
  };
  /** Runs the part of `guardWork`. */
  readonly measure: (request: GuardRequest) => Promise<Json>;
  /** What the stage keeps. */
  readonly document: KeptDocument;
}

/** The models that trials compare. */
interface Compared {
  readonly pair: DescribedPair;
  /** Number of captured samples. */
  readonly samples: number;
}

/** Digest and paths of the files that split outputs into kinds. */
async function describeKinds({ recipe, config }: GuardedStage['ports']) {
  if (recipe === undefined) return undefined;
  const paths = { recipe, ...(config === undefined ? {} : { config }) };
  const digests: string[] = [];
  for (const path of Object.values(paths)) digests.push(await digestFile(path));
  return { digest: digestJson(digests), paths };
}

export interface ModelChanges extends Compared {
  /** Number of changes. */
  readonly changes: number;
  /** The model with the first changes. */
  readonly modelWith: (kept: number) => Model;
}

/** Tries beginnings of the changes. @returns undefined unless the outputs judge. */
export async function guardModels(
  stage: GuardedStage,
  { pair, samples, changes, modelWith }: ModelChanges,
): Promise<GuardReport | undefined> {
  const { params, ports, context, measure, document } = stage;
  if (params.guard === 'layers') return undefined;
  const kinds = await describeKinds(ports);
  const path = join(context.scratch, 'guarded.onnx');
  let trial = 0;
  return guardByOutputs({ changes, samples: Math.min(samples, GUARD_SAMPLES) }, async (kept): Promise<OutputShares> => {
    context.progress(trial++, MOST_TRIALS, 'trials');
    context.signal.throwIfAborted();
    const model = modelWith(kept);
    await writeModel(path, model);
    const names = { outputs: outputNamesOf(model), floatOutputs: pair.floatOutputs };
    const manifest = { ...pair.manifest, quantized: digestModelContent(model), ...names, kinds: kinds?.digest ?? null };
    return parseKept(await measure({ manifest, blobs: {}, unkeyed: { ...pair.paths, ...kinds?.paths, model: path } }), reader, document);
  });
}

/** A constant of the graph before and behind a change. */
export interface ConstantChange {
  readonly value: ValueId;
  readonly former: Constant | undefined;
  readonly changed: Constant | undefined;
}

/** Changes constants by `write`, and tells what was changed. */
export function changeConstants<Change extends { readonly value: ValueId }>(
  graph: Graph,
  changes: readonly Change[],
  write: (change: Change) => void,
): readonly ConstantChange[] {
  return changes.map(change => {
    const former = getValue(graph, change.value).constant;
    write(change);
    return { value: change.value, former, changed: getValue(graph, change.value).constant };
  });
}

export interface ConstantChanges extends Compared {
  readonly changed: readonly ConstantChange[];
}

/** Leaves the model of the pair with the changes that are kept: all, unless the outputs judge. */
export async function guardConstants(stage: GuardedStage, { pair, samples, changed }: ConstantChanges): Promise<GuardReport | undefined> {
  const { quantized } = pair;
  const modelWith = (kept: number): Model => {
    for (const [index, change] of changed.entries())
      getValue(quantized.graph, change.value).constant = index < kept ? change.changed : change.former;
    return quantized;
  };
  const report = await guardModels(stage, { pair, samples, changes: changed.length, modelWith });
  if (report !== undefined) modelWith(report.kept);
  return report;
}
