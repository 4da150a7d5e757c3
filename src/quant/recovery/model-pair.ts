/** A float and a quantized model with the same captured samples, as a stage opens them and hands them to its parts. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getDefined } from '../../base/invariant.js';
import type { JsonObject } from '../../base/json.js';
import { digestModelContent } from '../../onnx/analysis/content-digest.js';
import { getValue } from '../../onnx/ir/edit.js';
import type { Model } from '../../onnx/ir/model.js';
import { readModel, writeModel } from '../../onnx/serde/model-file.js';
import { CAPTURE_SESSION } from '../../runtime/capture/capture.js';
import { describeSampleList, feedsOf, openSampleList, type SampleFiles } from '../../runtime/capture/sample-files.js';
import type { NamedTensors } from '../../runtime/session/model-inputs.js';
import { sessionManifest } from '../../runtime/session/session.js';
import { compareWithSaved, type OutputSqnr, type SavedOutputs, saveOutputs } from './output-errors.js';

/** Everything of a pair that can change the result of a part. */
export interface PairManifest extends JsonObject {
  /** Content digests, without names. */
  readonly float: string;
  readonly quantized: string;
  readonly samples: string;
  readonly arrays: readonly string[];
  readonly session: JsonObject;
}

/** What a part that compares outputs depends on: the pair, and the names of the outputs. */
export interface OutputsManifest extends PairManifest {
  readonly outputs: readonly string[];
  /** Results are given by these. */
  readonly floatOutputs: readonly string[];
}

/** The names of the outputs. */
export const outputNamesOf = ({ graph }: Model): readonly string[] => graph.outputs.map(id => getValue(graph, id).name);

/** Paths by role, which are not part of a key. */
export interface PairPaths extends Readonly<Record<string, string>> {
  readonly float: string;
  readonly model: string;
  /** The list of samples. */
  readonly samples: string;
  /** The folder that their files are in. */
  readonly captured: string;
}

export interface ModelPair {
  readonly float: Model;
  readonly quantized: Model;
  /** Inputs of each sample, by the names of each model. */
  readonly samples: {
    readonly float: readonly (() => Promise<NamedTensors>)[];
    readonly quantized: readonly (() => Promise<NamedTensors>)[];
  };
}

export interface DescribedPair {
  /** The float model is not kept: its weights can take a hundred megabytes. */
  readonly quantized: Model;
  /** The names of its outputs. */
  readonly floatOutputs: readonly string[];
  readonly manifest: PairManifest;
  readonly paths: PairPaths;
}

/** @param samples those of `openSampleFiles`; their list is written into `scratch`. */
export async function describePair(
  models: Pick<ModelPair, 'float' | 'quantized'>,
  samples: SampleFiles,
  { scratch, ...paths }: { readonly float: string; readonly model: string; readonly scratch: string },
): Promise<DescribedPair> {
  const list = join(scratch, 'samples.json');
  await writeFile(list, JSON.stringify(describeSampleList(samples.list)));
  const manifest = {
    float: digestModelContent(models.float),
    quantized: digestModelContent(models.quantized),
    samples: samples.digest,
    arrays: samples.list.arrays,
    session: sessionManifest(CAPTURE_SESSION),
  };
  const described = { ...paths, samples: list, captured: samples.list.folder };
  return { quantized: models.quantized, floatOutputs: outputNamesOf(models.float), manifest, paths: described };
}

/** A comparison of outputs, as a part takes it. */
export interface OutputsRequest {
  readonly manifest: OutputsManifest;
  readonly blobs: Readonly<Record<string, never>>;
  readonly unkeyed: PairPaths;
}

/** Edits the quantized model by `change`, writes it to `path`, and compares its outputs with those of the float model before and after. */
export async function measureChange(
  { quantized, floatOutputs, manifest, paths }: DescribedPair,
  path: string,
  compare: (request: OutputsRequest) => Promise<OutputSqnr>,
  change: () => Promise<void>,
): Promise<{ readonly before: OutputSqnr; readonly after: OutputSqnr }> {
  const names = { outputs: outputNamesOf(quantized), floatOutputs };
  const before = await compare({ manifest: { ...manifest, ...names }, blobs: {}, unkeyed: paths });
  await change();
  await writeModel(path, quantized);
  const changed = { ...manifest, quantized: digestModelContent(quantized), ...names };
  const after = await compare({ manifest: changed, blobs: {}, unkeyed: { ...paths, model: path } });
  return { before, after };
}

/** Reads the models and opens the samples at the paths that a part gets. @throws OnnxError; RuntimeError `bad-capture`. */
export async function readPair(paths: Readonly<Record<string, string>>): Promise<ModelPair> {
  const [float, quantized] = [await readModel(getDefined(paths.float, 'float')), await readModel(getDefined(paths.model, 'model'))];
  const list = await openSampleList(getDefined(paths.samples, 'samples'), getDefined(paths.captured, 'captured'));
  return { float, quantized, samples: { float: feedsOf(float, list), quantized: feedsOf(quantized, list) } };
}

/** An empty folder for the values of one use of a pair: in the scratch folder of the run, wherever that is. `close` removes it. */
export async function makeValuesFolder() {
  const folder = await mkdtemp(join(tmpdir(), 'tanren-values-'));
  return { folder, close: () => rm(folder, { recursive: true, force: true }) };
}

export const OUTPUTS_FILE = 'outputs.json';

/** Outputs of a float model, in a folder that `close` removes. */
export interface OpenOutputs extends SavedOutputs {
  close(): Promise<void>;
}

/**
 * The work of a part that writes the SQNR in dB of every float32 output, as `compareWithSaved`.
 * @param openOrReuse keeps the outputs of the float model from one run of the part to the next one, by key.
 */
export function outputsWork(openOrReuse: (key: string, open: () => Promise<OpenOutputs>) => Promise<OpenOutputs>) {
  return {
    version: 2,
    runsModels: 'always',
    async run({ manifest, unkeyed, folder }: OutputsRun) {
      const { float, samples, arrays, session } = manifest;
      const list = await openSampleList(getDefined(unkeyed.samples, 'samples'), getDefined(unkeyed.captured, 'captured'));
      const path = getDefined(unkeyed.float, 'float');
      const key = JSON.stringify([float, samples, arrays, session, path]);
      const outputs = await openOrReuse(key, () => openFloatOutputs(path, list));
      const model = await readModel(getDefined(unkeyed.model, 'model'));
      const values = await makeValuesFolder();
      const figures = await compareWithSaved(outputs, { model, samples: feedsOf(model, list) }, values.folder);
      await values.close();
      await writeFile(join(folder, OUTPUTS_FILE), JSON.stringify(figures));
      return [OUTPUTS_FILE];
    },
  } as const;
}

interface OutputsRun {
  readonly manifest: OutputsManifest;
  readonly unkeyed: Readonly<Record<string, string>>;
  readonly folder: string;
}

export async function openFloatOutputs(path: string, list: Parameters<typeof feedsOf>[1]): Promise<OpenOutputs> {
  const model = await readModel(path);
  const { folder, close } = await makeValuesFolder();
  return { ...(await saveOutputs({ model, samples: feedsOf(model, list) }, folder)), close };
}
