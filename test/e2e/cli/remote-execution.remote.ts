/** Stages on a worker that others wrote: the bytes are those of this machine, for every kind of pipeline. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { digestBytes } from '../../../src/base/digest.js';
import { writeModel } from '../../../src/onnx/serde/model-file.js';
import { parseModelText } from '../../../src/onnx/text/parse-text.js';
import { describeWithServer, missing, type RealServer, startWorker } from '../../support/remote/real-servers.js';
import { type CliBuild, givenShapesProject, type ShapesProject } from '../../support/shapes-project.js';

const CLASSIFIER = `version: 1
sources: {model: classifier.onnx, images: images, labels: labels.txt}
stages:
  import: {uses: import, inputs: {model: "\${sources.model}"}}
  simplify: {uses: simplify, inputs: {model: import.model}}
  calibrate: {uses: calibrate, with: {preprocess: {}}, inputs: {model: simplify.model, images: "\${sources.images}"}}
  quantize: {uses: quantize, inputs: {model: simplify.model, sketches: calibrate.sketches}}
  capture: {uses: capture, with: {of: model, preprocess: {}}, inputs: {model: simplify.model, images: "\${sources.images}"}}
  sensitivity: {uses: sensitivity, inputs: {model: quantize.model, float: simplify.model, captured: capture.captured}}
  classes: {uses: evaluate-classes, with: {preprocess: {}}, inputs: {model: quantize.model, images: "\${sources.images}", labels: "\${sources.labels}"}}
`;

/** The scores are the means of red, green and blue after a convolution. */
const MODEL = `
agraph (float[1, 3, 8, 8] image) => (float[1, 3] scores)
  <float[3, 3, 1, 1] weight = {0.5, 0.1, 0, 0, 0.75, 0.1, 0.2, 0, 1}>
{
  mixed = Conv(image, weight)
  positive = Relu(mixed)
  pooled = GlobalAveragePool(positive)
  scores = Flatten(pooled)
}`;

async function addClassifier(project: ShapesProject): Promise<void> {
  await writeModel(project.path('classifier.onnx'), parseModelText(MODEL));
  mkdirSync(project.path('images'));
  const colors = { 'r.png': [200, 10, 10], 'g.png': [10, 200, 10], 'b.png': [40, 90, 210] } as const;
  for (const [name, [r, g, b]] of Object.entries(colors))
    await sharp({ create: { width: 8, height: 8, channels: 3, background: { r, g, b } } })
      .png()
      .toFile(join(project.path('images'), name));
  writeFileSync(project.path('pipelines/classifier.yaml'), CLASSIFIER);
  writeFileSync(project.path('labels.txt'), 'r.png 0\ng.png 1\nb.png 2\n');
}

/** Digests of the published files of all stages that do not measure. */
function exactFiles(project: ShapesProject): Readonly<Record<string, string>> {
  const root = project.path('artifacts');
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile() && entry.name !== '.tanren');
  return Object.fromEntries(
    files
      .map(({ parentPath, name }) => join(parentPath, name).slice(root.length + 1))
      .filter(path => !/(^|\/)(bench|report)\//.test(path))
      .map(path => [path, digestBytes(readFileSync(join(root, path)))]),
  );
}

describeWithServer(missing.worker)("stages on Bazel's remote worker", () => {
  let server: RealServer;
  let projects: ShapesProject[];
  beforeAll(async () => {
    server = await startWorker();
    projects = [];
  });
  afterAll(async () => {
    for (const project of projects ?? []) project.remove();
    await server?.stop();
  });

  it.each([
    ['of Mask R-CNN', 'pipeline.yaml'],
    ['of YOLACT', 'pipelines/yolact-shapes.yaml'],
    ['of a classifier', 'pipelines/classifier.yaml'],
  ])('give the bytes of this machine: the pipeline %s', async (_name, file) => {
    const [here, there] = [givenShapesProject(3), givenShapesProject(3)];
    projects.push(here, there);
    for (const project of [here, there]) await addClassifier(project);
    const local = here.build('-f', file);
    expect(failures(local)).toEqual([]);
    const remote = there.build('-f', file, '--remote-cache', `grpc://127.0.0.1:${server.ports[0]}`, '--executor', 'remote');
    expect(failures(remote)).toEqual([]);
    expect(remote.executed).toEqual(local.executed);
    expect(exactFiles(there)).toEqual(exactFiles(here));
    const logs = readdirSync(there.path('cache/logs'), { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.log'));
    const textOf = (name: string): string => readFileSync(join(there.path('cache/logs'), name), 'utf8');
    // A stage runs there whole, or has all its parts from there; one that measures stays.
    const stayed = logs.filter(name => !/ran on a remote worker|, (\d+) computed, \1 of them on remote workers/.test(textOf(name)));
    expect(stayed.map(name => name.replace(/^.*\//, ''))).toEqual(file === 'pipelines/classifier.yaml' ? [] : ['bench.log']);
  });
});

function failures({ stages, text }: CliBuild): readonly string[] {
  const failed = [...stages.values()].filter(({ outcome }) => outcome.kind !== 'executed');
  return failed.length === 0 && stages.size > 0
    ? []
    : [text, ...failed.map(({ stage, outcome }) => `${stage}: ${JSON.stringify(outcome)}`)];
}
