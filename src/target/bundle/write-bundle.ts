/** Writes the deployment bundle: models, their parts, options of the vendor's software, golden values, programs for the board and a manifest. */
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Digest, digestFile } from '../../base/digest.js';
import { getDefined } from '../../base/invariant.js';
import type { Json, JsonObject } from '../../base/json.js';
import type { Model } from '../../onnx/ir/model.js';
import { writeModel } from '../../onnx/serde/model-file.js';
import { modeOf } from '../legality/judge-units.js';
import type { CompileReport, ModelReport, PartReport } from '../report/compile-report.js';
import { readBoardPrograms } from './board-programs.js';
import { cacheKeyOf } from './cache-key.js';
import { isReadable } from './fit-runtime.js';
import { GOLDEN_OPTIMIZATION, type GoldenFeeds, openGoldenModel, writeGoldenSample } from './golden.js';
import type { MergedOutputs } from './merged-outputs.js';
import { predictAssignment } from './predicted-assignment.js';
import { findRuntime, listRyzenAiOptions, type OwnOptions, type ProviderOptions } from './provider-options.js';

export interface BundleRequest {
  /** Must not exist. */
  readonly folder: string;
  /** The report has the models to write, in the same order. */
  readonly report: CompileReport;
  readonly models: readonly BundleModel[];
  /** Provider options that the user sets for the chosen version and device. */
  readonly providerOptions?: Readonly<Record<string, string>>;
  /** How the host joins the models; absent where they are no detector. */
  readonly detector?: BundleDetector;
}

/** The content of a detector definition, and the names of its categories by id. */
export interface BundleDetector {
  readonly files: JsonObject;
  readonly categories: ReadonlyMap<number, string>;
}

export interface BundleModel {
  readonly name: string;
  /** The QDQ model file as it was given; other stages run this file. */
  readonly sourcePath: string;
  /** The same model as the vendor's runtime reads it, with all sizes fixed: the same file, or another one. */
  readonly wholePath: string;
  /** Whether named sizes were pinned. */
  readonly pinned: boolean;
  /** The content of that file. */
  readonly whole: Model;
  /** In execution order. Values with equal names are one tensor. */
  readonly parts: readonly BundlePart[];
  /** Inputs of golden samples. Empty: the bundle has no golden values for this model. */
  readonly golden: readonly GoldenFeeds[];
  /** How the host takes apart the one output of `whole`. Absent: `whole` has the outputs of the given model. */
  readonly merged?: MergedOutputs;
  /** Output → the smallest SQNR that a board's arithmetic should reach, in dB. Absent: that of the runner. */
  readonly leastSqnrDb?: Readonly<Record<string, number>>;
  /** Two inputs that differ everywhere, for the check of unwritten slots; or none. */
  readonly probes: readonly GoldenFeeds[];
}

export interface BundlePart {
  readonly report: PartReport;
  readonly model: Model;
}

export const BUNDLE_FORMAT = 'tanren-bundle/1';

/** Format of `detector.json`. */
export const BUNDLE_DETECTOR_FORMAT = 'tanren-bundle-detector/1';

const RYZEN_AI = 'ryzen-ai';

/** Writes the bundle; docs/npu-compile.md lists its files. Equal requests give equal files. @throws RuntimeError if ONNX Runtime cannot run a part. */
export async function writeBundle({ folder, report, models, providerOptions = {}, detector }: BundleRequest): Promise<void> {
  const files = openFiles(folder);
  const { profile, version, device, dtype } = report.target;
  const options = profile === RYZEN_AI ? listReadable(models, { version, device, providerOptions }, dtype) : [];
  const described: DescribedModel[] = [];
  for (const [index, model] of models.entries()) {
    described.push(await writeOne(files, getDefined(report.models[index], model.name), model, options));
  }
  for (const row of options) {
    await files.json(`ryzenai/${row.version}/${row.device}.json`, describeOptions(row, described));
    if (row.configFile !== undefined) await files.json(`ryzenai/${row.version}/vitisai_config.json`, row.configFile);
  }
  if (detector !== undefined) await files.json('detector.json', describeDetector(detector));
  for (const { name, bytes } of await readBoardPrograms()) await files.bytes(name, bytes);
  const manifest = { format: BUNDLE_FORMAT, target: report.target, files: files.digests(), models: described };
  await writeFile(join(folder, 'manifest.json'), encodeJson(manifest));
}

/** The options of all versions whose ONNX Runtime reads all models. */
function listReadable(models: readonly BundleModel[], own: OwnOptions, dtype: string): readonly ProviderOptions[] {
  return listRyzenAiOptions(own, dtype).filter(({ version }) => {
    const runtime = findRuntime(version);
    return runtime === undefined || models.every(({ whole }) => isReadable(whole, runtime));
  });
}

function describeDetector({ files, categories }: BundleDetector): JsonObject {
  const names = Object.fromEntries([...categories].map(([id, name]) => [String(id), name]));
  return { format: BUNDLE_DETECTOR_FORMAT, ...files, categories: names };
}

/** A model in the manifest. `cacheKeys`: by version and device. */
type DescribedModel = JsonObject & { readonly name: string; readonly cacheKeys: Readonly<Record<string, string>> };

async function writeOne(
  files: BundleFiles,
  report: ModelReport,
  { name, sourcePath, wholePath, pinned, whole, parts, golden, probes, leastSqnrDb, merged }: BundleModel,
  options: readonly ProviderOptions[],
): Promise<DescribedModel> {
  const wholeFile = `models/${name}/whole.onnx`;
  const digest = await files.copy(wholeFile, wholePath);
  for (const part of parts) await files.model(`models/${name}/parts/${part.report.name}.onnx`, part.model);
  const models = parts.map(part => part.model);
  const isFloat = modeOf(whole) === 'float';
  await files.json(`report/${name}.predicted.json`, predictAssignment(report, models));
  return {
    name,
    digest: report.digest,
    whole: wholeFile,
    // A runner that gets this file runs `whole` instead.
    source: await digestFile(sourcePath),
    pinned,
    // The programs of the bundle run it with ONNX Runtime's own provider.
    ...(report.place === 'cpu' ? { place: 'cpu' } : {}),
    ...(report.place === 'cpu' || isFloat ? { form: isFloat ? 'float' : 'int8' } : {}),
    ...(leastSqnrDb === undefined ? {} : { leastSqnrDb }),
    ...(merged === undefined ? {} : { merged }),
    ...(isFloat && report.place !== 'cpu' ? { probeZeros: true } : {}),
    nodes: report.counts.nodes,
    npuNodes: report.counts.npuNodes,
    parts: report.parts.map(({ estimate: _estimate, ...part }) => part),
    cacheKeys: Object.fromEntries(options.map(row => [`${row.version}/${row.device}`, cacheKeyOf(digest, row)])),
    golden: await writeGolden(files, name, { whole, models, merged, feeds: golden, kind: 'golden' }),
    probes: await writeGolden(files, name, { whole, models, merged, feeds: probes, kind: 'probe' }),
  };
}

interface GoldenRequest {
  readonly whole: Model;
  readonly models: readonly Model[];
  readonly merged: MergedOutputs | undefined;
  readonly feeds: readonly GoldenFeeds[];
  /** Probes have no values between parts. */
  readonly kind: 'golden' | 'probe';
}

async function writeGolden(files: BundleFiles, name: string, { whole, models, merged, feeds, kind }: GoldenRequest): Promise<Json> {
  if (feeds.length === 0) return [];
  const opened = await openGoldenModel(models);
  try {
    const samples: JsonObject[] = [];
    for (const [index, one] of feeds.entries()) {
      const values = await opened.compute(one);
      const file = `golden/${name}.${kind === 'probe' ? 'probe-' : ''}${index}.npz`;
      const arrays = await files.write(file, path =>
        writeGoldenSample(path, whole, values, { kept: kind === 'probe' ? 'ends' : 'all', merged }),
      );
      samples.push({ file, computedBy: `ONNX Runtime, CPU, optimization ${GOLDEN_OPTIMIZATION}`, arrays });
    }
    return samples;
  } finally {
    await opened.close();
  }
}

/** One file per version and device, with the cache key of each model, for the runner and for programs that open sessions themselves. */
function describeOptions({ sources, configFile: _configFile, ...row }: ProviderOptions, models: readonly DescribedModel[]): JsonObject {
  const keyOf = (model: DescribedModel): Json => model.cacheKeys[`${row.version}/${row.device}`] ?? '';
  return {
    ...row,
    cacheKeys: Object.fromEntries(models.map(model => [model.name, keyOf(model)])),
    sources,
  };
}

interface BundleFiles {
  copy(name: string, from: string): Promise<Digest>;
  model(name: string, model: Model): Promise<void>;
  json(name: string, value: JsonObject): Promise<void>;
  bytes(name: string, bytes: Uint8Array): Promise<void>;
  write<T>(name: string, write: (path: string) => Promise<T>): Promise<T>;
  /** Sorted by name. */
  digests(): Readonly<Record<string, Digest>>;
}

function openFiles(folder: string): BundleFiles {
  const digests = new Map<string, Digest>();
  const write: BundleFiles['write'] = async (name, put) => {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    const result = await put(path);
    digests.set(name, await digestFile(path));
    return result;
  };
  return {
    write,
    async copy(name, from) {
      await write(name, path => copyFile(from, path));
      return getDefined(digests.get(name), name);
    },
    model: (name, model) => write(name, path => writeModel(path, model)),
    json: (name, value) => write(name, path => writeFile(path, encodeJson(value))),
    bytes: (name, bytes) => write(name, path => writeFile(path, bytes)),
    digests: () => Object.fromEntries([...digests].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

function encodeJson(value: JsonObject): string {
  return `${JSON.stringify(value, undefined, 1)}\n`;
}
