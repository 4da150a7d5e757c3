/** A bundle of the small quantized model, compiled for a target and written as the `compile` stage does. */
import { mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Model } from '../../src/onnx/ir/model.js';
import { writeModel } from '../../src/onnx/serde/model-file.js';
import { evaluate } from '../../src/runtime/session/evaluate.js';
import { seededRandom } from '../../src/stage/random.js';
import { probeFeeds, randomGoldenFeeds } from '../../src/target/bundle/golden-feeds.js';
import type { MergedOutputs } from '../../src/target/bundle/merged-outputs.js';
import { writeBundle } from '../../src/target/bundle/write-bundle.js';
import { compileModel } from '../../src/target/compile-model.js';
import { chooseTarget, getBuiltInProfile, type TargetChoice } from '../../src/target/profile/choose-target.js';
import { COMPILE_REPORT_FORMAT } from '../../src/target/report/compile-report.js';
import { smallQdqModel } from './qdq-model.js';

export interface Manifest {
  readonly format: string;
  readonly files: Readonly<Record<string, string>>;
  readonly models: readonly {
    readonly name: string;
    readonly whole: string;
    readonly source: string;
    readonly nodes: number;
    readonly cacheKeys: Readonly<Record<string, string>>;
    readonly golden: readonly GoldenEntry[];
    readonly probes: readonly GoldenEntry[];
  }[];
}

interface GoldenEntry {
  readonly file: string;
  readonly arrays: readonly { role: string; name: string; array: string; dtype: string; dims: number[] }[];
}

export interface SmallBundle {
  readonly folder: string;
  readonly manifest: Manifest;
  /** The model as it came in. */
  readonly sourcePath: string;
  path(name: string): string;
}

export async function writeSmallBundle(
  folder: string,
  options: {
    readonly model?: Model;
    readonly source?: Model;
    readonly profile?: string;
    readonly choice?: TargetChoice;
    readonly samples?: number;
    readonly leastSqnrDb?: Readonly<Record<string, number>>;
    /** Of a model whose outputs were joined. */
    readonly merged?: MergedOutputs;
    /** Names of equal models; default: net. */
    readonly names?: readonly string[];
    /** Those of them that the params place on the CPU. */
    readonly onCpu?: readonly string[];
  } = {},
): Promise<SmallBundle> {
  const {
    model = smallQdqModel(),
    source = model,
    profile = 'ryzen-ai',
    choice = {},
    samples = 1,
    names = ['net'],
    onCpu = [],
    leastSqnrDb,
    merged,
  } = options;
  const here = mkdtempSync(join(folder, 'bundle-'));
  const wholePath = join(here, 'in.onnx');
  await writeModel(wholePath, model);
  const sourcePath = join(here, 'source.onnx');
  await writeModel(sourcePath, source);
  const target = chooseTarget(getBuiltInProfile(profile), choice);
  const { report, parts } = await compileModel('net', model, target, { evaluate, undocumented: 'npu', accept: 'quantized' });
  const bundle = join(here, 'bundle');
  mkdirSync(bundle);
  await writeBundle({
    folder: bundle,
    report: {
      format: COMPILE_REPORT_FORMAT,
      target: target.identity,
      models: names.map(name => ({ ...report, name, ...(onCpu.includes(name) ? { place: 'cpu' } : {}) })),
    },
    models: names.map(name => ({
      name,
      sourcePath,
      wholePath,
      pinned: source !== model,
      whole: model,
      parts: report.parts.flatMap((part, index) => (parts[index] === undefined ? [] : [{ report: part, model: parts[index] }])),
      ...(leastSqnrDb === undefined ? {} : { leastSqnrDb }),
      ...(merged === undefined ? {} : { merged }),
      golden: randomGoldenFeeds(model, samples, sample => seededRandom('test', String(sample))),
      probes: probeFeeds(model, sample => seededRandom('probe', String(sample))),
    })),
  });
  const path = (name: string): string => join(bundle, name);
  return { folder: bundle, sourcePath, path, manifest: JSON.parse(readFileSync(path('manifest.json'), 'utf8')) as Manifest };
}
