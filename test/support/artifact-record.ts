/** Builds the pipelines of test/fixtures/artifact-bytes with an installation, and digests what they make. None has `compile`, whose results follow the documentation of targets. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { digestBytes } from '../../src/base/digest.js';
import { isJsonObject, type Json } from '../../src/base/json.js';
import { writeModel } from '../../src/onnx/serde/model-file.js';
import { parseModelText } from '../../src/onnx/text/parse-text.js';
import { encodeSafetensors } from '../../src/tensor/formats/safetensors.js';
import { makeCocoState, writeCoco } from './coco-project.js';
import { PROJECT } from './shapes-project.js';
import { TINY_V2 } from './tiny-maskrcnn.js';
import { calmCocoState, TINY_RESNET } from './tiny-yolact.js';

export const RECORD_FOLDER = join(PROJECT, 'test/fixtures/artifact-bytes');
export const RECORD_FILE = join(RECORD_FOLDER, 'record.json.gz');

export interface ArtifactRecord {
  /** Commit of the code that made it. */
  readonly commit: string;
  /** Platform class of the machine that made it. */
  readonly platform: string;
  readonly pipelines: Readonly<Record<string, PipelineRecord>>;
}

export interface PipelineRecord {
  /** Generated inputs: path → SHA-256. */
  readonly inputs: Readonly<Record<string, string>>;
  /** Models, sketches, captured samples and detections: path below artifacts/ → SHA-256. */
  readonly files: Readonly<Record<string, string>>;
  /** JSON reports, recipes and metrics: path below artifacts/ → content, sentences replaced by "…". */
  readonly reports: Readonly<Record<string, Json>>;
}

const EXACT = /\.(onnx|npz)$|(^|\/)(sketches|detections)\.json$/;
const REPORT = /(^|\/)(report|metrics|recipe)\.json$/;

/** Each makes the inputs that examples/ lacks. */
export const RECORDED: Readonly<Record<string, (folder: string) => Promise<void>>> = {
  maskrcnn: async () => undefined,
  maskscoring: async () => undefined,
  yolact: async () => undefined,
  import: async () => undefined,
  single: writeSmallModels,
  'maskrcnn-coco': folder => writeCocoInputs(folder, () => makeCocoState({ ...TINY_V2, classes: 91 })),
  'yolact-coco': folder => writeCocoInputs(folder, () => calmCocoState(TINY_RESNET)),
};

/** @param dist the compiled code of the installation that builds. @throws Error with its output, if the build fails */
export async function recordPipeline(name: string, dist: string): Promise<PipelineRecord> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tanren-bytes-')));
  try {
    writeFileSync(join(folder, 'package.json'), '{}');
    await RECORDED[name]?.(folder);
    const inputs = digestsOf(folder, filesBelow(folder));
    symlinkSync(join(PROJECT, 'examples'), join(folder, 'examples'));
    cpSync(join(RECORD_FOLDER, `${name}.yaml`), join(folder, 'pipeline.yaml'));
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(dist, 'bin/tanren.js'), 'build', '--jobs', '2'], {
      cwd: folder,
      encoding: 'utf8',
      timeout: 600_000,
    });
    if (status !== 0) throw new Error(`${name}.yaml: the build ended with exit code ${status}\n${stdout}${stderr}`);
    const artifacts = join(folder, 'artifacts');
    const paths = filesBelow(artifacts);
    const reports = paths.filter(path => REPORT.test(path));
    return {
      inputs,
      files: digestsOf(
        artifacts,
        paths.filter(path => EXACT.test(path)),
      ),
      reports: Object.fromEntries(
        reports.map(path => [path, withoutSentences(JSON.parse(readFileSync(join(artifacts, path), 'utf8')) as Json)]),
      ),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(path => statSync(join(folder, path)).isFile())
    .map(path => relative(folder, join(folder, path)))
    .sort();
}

function digestsOf(folder: string, paths: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(paths.map(path => [path, digestBytes(readFileSync(join(folder, path)))]));
}

/**
 * Sentences are replaced by "…": words for people may change; names and figures may not.
 * Of `proof.outputs` only the names stay: its random inputs are seeded by the action key, which has the digest of the code.
 */
function withoutSentences(json: Json): Json {
  if (typeof json === 'string') return json.includes(' ') ? '…' : json;
  if (Array.isArray(json)) return json.map(withoutSentences);
  if (json === null || typeof json !== 'object') return json;
  return Object.fromEntries(Object.entries(json).map(([key, value]) => [key, key === 'proof' ? proofOf(value) : withoutSentences(value)]));
}

function proofOf(proof: Json): Json {
  if (!isJsonObject(proof)) return withoutSentences(proof);
  const { outputs, ...rest } = proof;
  return {
    ...Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, withoutSentences(value)])),
    outputs: Object.keys(outputs ?? {}),
  };
}

async function writeCocoInputs(folder: string, stateOf: () => Parameters<typeof encodeSafetensors>[0]): Promise<void> {
  writeFileSync(join(folder, 'weights.safetensors'), encodeSafetensors(stateOf()));
  await writeCoco(join(folder, 'coco'), 2);
}

/** A detector that reads an object from the mean color of each 8×8 cell, and a classifier of mean colors. */
async function writeSmallModels(folder: string): Promise<void> {
  await writeModel(
    join(folder, 'cells.onnx'),
    parseModelText(`
agraph (float[1, 3, 64, 64] image) => (float[1, 64, 7] rows)
<float[7, 3, 1, 1] w = {0.5, -0.25, 0, 0, 0.5, -0.25, 0.25, 0, 0.5, 0, 0.75, 0.125, 1, 0.5, 0.25, 0.125, 1, 0, 0, 0.375, 0.875}, float[7] b = {0.5, 0.5, 0.25, 0.125, 0, 0, 0}, int64[3] shape = {1, 7, 64}>
{
  cells = AveragePool<kernel_shape = [8, 8], strides = [8, 8]>(image)
  maps = Conv(cells, w, b)
  flat = Reshape(maps, shape)
  rows = Transpose<perm = [0, 2, 1]>(flat)
}`),
  );
  await writeModel(
    join(folder, 'classifier.onnx'),
    parseModelText(`
agraph (float[1, 3, 64, 64] image) => (float[1, 3] logits)
<float[3, 3, 1, 1] w = {1, -0.5, 0.25, -0.5, 1, 0.125, 0.25, -0.75, 1}, int64[2] shape = {1, 3}>
{
  cells = AveragePool<kernel_shape = [64, 64]>(image)
  maps = Conv(cells, w)
  logits = Reshape(maps, shape)
}`),
  );
  const images = readdirSync(join(PROJECT, 'examples/shapes/data/val')).sort();
  writeFileSync(join(folder, 'labels.txt'), images.map((image, index) => `${image} ${index % 3}\n`).join(''));
}
