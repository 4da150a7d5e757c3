/** Inputs of a report page for tests: a little of everything, with names that would be markup without escaping. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseDigest } from '../../src/base/digest.js';
import { getDefined } from '../../src/base/invariant.js';
import type { Json, JsonObject } from '../../src/base/json.js';
import { encodeMask } from '../../src/detection/masks/rle.js';
import { encodeRleText } from '../../src/detection/masks/rle-text.js';
import { encodeModelSketches } from '../../src/quant/calibration/model-sketches.js';
import type { QuantizationReport } from '../../src/quant/report/report-entries.js';
import { sketchTensor } from '../../src/quant/sketch/sketch.js';
import type { BuildSummary, SummarizedStage } from '../../src/stage/build-summary.js';
import type { InputPaths } from '../../src/stage/define-stage.js';
import type { CompileReport } from '../../src/target/report/compile-report.js';
import type { Finding } from '../../src/target/report/finding.js';
import type { MemoryReport } from '../../src/target/report/memory-report.js';
import { makeJpeg } from './make-jpeg.js';

/** Ends an attribute, an element and a script; loads an image; turns the direction of text. */
export const HOSTILE = `"'><script>alert(1)</script><img src=//evil.example/x onerror=alert(2)>\u202E&amp;{a|b}`;

const DIGEST = 'ab'.repeat(32);

const stage = (
  name: string,
  outcome: SummarizedStage['outcome'],
  reads: SummarizedStage['reads'],
  gates: SummarizedStage['gates'] = [],
): SummarizedStage => ({
  stage: name,
  group: name.split('@')[0] ?? name,
  plugin: name === 'first' ? 'export' : 'simplify',
  determinism: 'exact',
  reads,
  key: DIGEST,
  outputs: [{ port: 'model', kind: 'onnx-model', digest: DIGEST, sizeBytes: 1234 }],
  gates,
  outcome,
  durationMs: 1500,
});

/** A stage whose report or detections are connected to the page. */
const result = (
  name: string,
  plugin: string,
  outputs: readonly (readonly [port: string, kind: string])[],
  reads: SummarizedStage['reads'] = [],
) => ({
  ...stage(name, 'executed', reads),
  plugin,
  outputs: outputs.map(([port, kind]) => ({ port, kind, digest: DIGEST, sizeBytes: 100 })),
});

const DATA: SummarizedStage['reads'] = ['annotations', 'images'].map(entry => ({ kind: 'source', port: 'data', entry, source: 'val' }));

/** The stages and reads of a build in which every input of `givenReportInputs` but the sweep is an artifact. */
export const CONNECTED: Pick<BuildSummary, 'stages' | 'reads'> = {
  stages: [
    ...['float', 'int8'].map(side =>
      result(
        side,
        'evaluate',
        [
          ['metrics', 'metrics'],
          ['detections', 'detections'],
        ],
        DATA,
      ),
    ),
    result('calibrate', 'calibrate', [['sketches', 'sketches']]),
    result(
      'quantize',
      'quantize',
      [
        ['report', 'report'],
        ['model', 'onnx-model'],
      ],
      [{ kind: 'artifact', port: 'sketches', stage: 'calibrate', output: 'sketches' }],
    ),
    ...['verify', 'sensitivity'].map(name =>
      result(name, name, [['report', 'report']], [{ kind: 'artifact', port: 'model', stage: 'quantize', output: 'model' }]),
    ),
    result('biases', 'correct-biases', [['report', 'report']]),
    result('rounding', 'round-weights', [['report', 'report']]),
    result('compile', 'compile', [['report', 'report']]),
    result('bench', 'bench', [['report', 'report']]),
  ],
  reads: (
    [
      ['metrics', 'float', 'float', 'metrics'],
      ['metrics', 'int8', 'int8', 'metrics'],
      ['detections', 'float', 'float', 'detections'],
      ['detections', 'int8', 'int8', 'detections'],
      ['verify', 'quantize', 'verify', 'report'],
      ['quantization', 'backbone', 'quantize', 'report'],
      ['recovery', 'biases', 'biases', 'report'],
      ['recovery', 'rounding', 'rounding', 'report'],
      ['sensitivity', 'quantize', 'sensitivity', 'report'],
      ['sketches', 'backbone', 'calibrate', 'sketches'],
      ['compile', 'target', 'compile', 'report'],
      ['bench', 'cpu', 'bench', 'report'],
    ] as const
  ).map(([port, entry, from, output]) => ({ kind: 'artifact', port, entry, stage: from, output })),
};

export const BUILD: BuildSummary = {
  stages: [
    stage('first', 'up-to-date', [{ kind: 'source', port: 'checkpoint', source: 'checkpoint' }]),
    stage('second@a', 'restored', [{ kind: 'artifact', port: 'model', stage: 'first', output: 'model' }]),
    stage('second@b', 'executed', [{ kind: 'artifact', port: 'model', stage: 'first', output: 'model' }]),
    stage(
      'third',
      'executed',
      [
        { kind: 'artifact', port: 'model', stage: 'second@a', output: 'model' },
        { kind: 'artifact', port: 'model', stage: 'first', output: 'model' },
      ],
      [
        { metric: 'bbox.AP', operator: '>=', bound: 0.5, value: 0.6, verdict: 'met' },
        { metric: 'segm.AP', operator: '>=', bound: 0.5, verdict: 'missed', reasons: ['the first reason', 'the second reason'] },
      ],
    ),
  ],
  reads: [],
};

const FIGURES = ['AP', 'AP50', 'AP75', 'APsmall', 'APmedium', 'APlarge', 'AR1', 'AR10', 'AR100', 'ARsmall', 'ARmedium', 'ARlarge'];
const metrics = (ap: number): Json => {
  const figures = Object.fromEntries(FIGURES.map(name => [name, name === 'APlarge' ? -1 : ap]));
  return { bbox: figures, segm: figures, images: 2, detections: 3 };
};

const TENSORS = [HOSTILE, 'a/b/wide', 'a/b/narrow'];

const quantization: QuantizationReport = {
  scheme: { activation: { dtype: 'uint8' }, weight: { dtype: 'int8' } },
  samples: 8,
  counts: {},
  activations: TENSORS.map((name, index) => ({
    name,
    method: 'min-max',
    range: [-1, 1],
    dtype: 'uint8' as const,
    scale: 0.0078125,
    zeroPoint: 128,
    dataRange: [-3, 3],
    saturationShare: 0.25,
    sqnrDb: index === 2 ? null : 20 + index,
  })),
  weights: [{ name: HOSTILE, role: 'weight', method: 'min-max', dtype: 'int8', scale: [0.5], zeroPoint: [0], sqnrDb: 40 }],
  biases: [],
  removed: [],
  fused: [],
  accumulators: [],
  inFloat: [{ node: HOSTILE, opType: 'Softmax', reason: HOSTILE }],
};

const sketches: Json = encodeModelSketches({
  model: getDefined(parseDigest(DIGEST), 'digest'),
  samples: 8,
  values: new Map(
    TENSORS.map((name, index) => [
      `address-${index}`,
      { name, sketch: sketchTensor(Float32Array.from({ length: 500 }, (_, i) => 3 * Math.sin(i * (index + 1)))) },
    ]),
  ),
});

const verify: Json = {
  images: [1, 2],
  values: { [HOSTILE]: { maxAbs: 0.5, cosine: 0.99, sqnrDb: 18, elements: 10, broken: 0 } },
  detections: {
    reference: 2,
    candidate: 2,
    matched: 1,
    missed: 1,
    extra: 1,
    missedShare: 0.5,
    extraShare: 0.5,
    meanScoreDifference: 0.1,
    maxScoreDifference: 0.1,
    meanBoxIou: 0.9,
    minBoxIou: 0.9,
    meanMaskIou: 0.8,
    minMaskIou: 0.8,
  },
  propagated: [
    {
      part: 'backbone',
      samples: 2,
      values: TENSORS.map((value, index) => ({
        value,
        comparedWith: value,
        node: HOSTILE,
        opType: 'Conv',
        standardDeviation: 1,
        maxAbs: 1,
        cosine: 0.9,
        sqnrDb: index === 0 ? 'equal' : 15 + index,
        elements: 10,
        broken: 0,
      })),
      unmatched: [],
    },
  ],
};

const finding = (rule: string, severity: Finding['severity']): Finding => ({
  rule,
  severity,
  message: HOSTILE,
  measured: HOSTILE,
  note: 'somebody saw it on a board',
  limit: 'documented for others',
  source: { kind: 'user', title: HOSTILE, ref: 'x' },
  fixIts: [{ rule: 'maxpool-1x1', form: '3x3', effect: 'approximate', note: HOSTILE }],
});
const estimate = { ms: 1.5, lowMs: 1, highMs: 2 };

const memory: MemoryReport = {
  alignmentBytes: 64,
  peakBytes: 256,
  boundBytes: 192,
  gapBytes: 64,
  sumBytes: 320,
  peakUnit: 0,
  units: Array.from({ length: 8 }, (_, step) => (step === 0 ? 0 : 2)),
  tensors: [
    { name: HOSTILE, bytes: 100, offset: 0, first: 0, last: 0 },
    { name: 'y', bytes: 64, offset: 128, first: 0, last: 7 },
  ],
  onChip: {
    bytes: 100,
    units: [
      { fit: 'rows', bytes: 300, strips: { count: 2, rows: 5, weights: 'streamed', trafficBytes: 400 } },
      ...Array.from({ length: 7 }, () => ({ fit: 'fits' as const, bytes: 3 })),
    ],
  },
};

const compile: CompileReport = {
  format: 'tanren-compile-report/1',
  target: { profile: 'p', title: HOSTILE, device: 'd', dtype: 'xint8', version: '1', digest: DIGEST },
  models: [
    {
      name: 'backbone',
      digest: DIGEST,
      legal: false,
      counts: {
        nodes: 9,
        npuNodes: 4,
        cpuNodes: 3,
        edgeNodes: 2,
        units: 3,
        npuUnits: 1,
        cpuUnits: 1,
        parts: 2,
        npuParts: 1,
        macs: 1000,
        npuMacShare: 0.75,
      },
      findings: [finding('batch', 'warning')],
      units: (['npu', 'cpu', 'npu'] as const).map((device, id) => ({
        id,
        kind: 'quantized' as const,
        opType: 'Conv',
        name: HOSTILE,
        nodes: [HOSTILE],
        device,
        edge: id === 2,
        part: id === 1 ? 1 : 0,
        findings: device === 'cpu' ? [finding('kernel', 'refused')] : [],
        ...(id === 1 ? { demoted: HOSTILE } : {}),
        outputs: [],
        macs: 1,
        weightBytes: 1,
        inputBytes: 1,
        outputBytes: 1,
        callMs: 0.25,
        ...(device === 'npu' && id !== 2 ? { estimate: { ...estimate, bound: 'compute' as const, computeMs: 0.2, memoryMs: 0.1 } } : {}),
      })),
      parts: [0, 1].map(index => ({
        index,
        name: `0${index}.x`,
        device: index === 0 ? ('npu' as const) : ('cpu' as const),
        units: [index],
        nodes: 3,
        inputs: [],
        outputs: [],
        dependsOn: index === 0 ? [] : [0],
        macs: 1,
        weightBytes: 1,
        transferBytes: 10,
        ...(index === 0 ? { memory } : {}),
      })),
      estimate: {
        npu: estimate,
        image: { calls: 1, perCall: estimate, perImage: estimate },
        basis: { formula: 'calls · fixed', constants: [] },
        roof: { macsPerSecond: 1e9, bytesPerSecond: 1e8, layerMs: 0.01 },
        batches: {
          rois: { from: 'params', counts: [16], mean: 16 },
          rows: [1, 4, 16].map(batch => ({ batch, calls: 16 / batch, padded: batch / 2, perCall: estimate, perImage: estimate })),
          best: 4,
        },
      },
    },
  ],
};

const sqnrDb = (before: number | null, after: number | null): Json => ({ before, after });
const recovered = {
  samples: 16,
  outputs: [
    { name: HOSTILE, sqnrDb: sqnrDb(20, 24.5) },
    { name: 'worse', sqnrDb: sqnrDb(null, 30) },
  ],
  skipped: [{ node: HOSTILE, opType: 'Conv', reason: HOSTILE }],
};
const recovery: Readonly<Record<string, Json>> = {
  biases: {
    ...recovered,
    format: 'tanren-bias-corrections/1',
    corrected: 1,
    layers: ['corrected', 'below-half-a-step'].map(result => ({
      node: HOSTILE,
      result,
      meanError: { before: 1, after: 0 },
      sqnrDb: sqnrDb(17.25, 19.75),
      saturated: 0,
    })),
  },
  rounding: {
    ...recovered,
    format: 'tanren-weight-roundings/1',
    rounded: 1,
    layers: ['rounded', 'error-not-lower'].map(result => ({
      node: HOSTILE,
      result,
      sqnrDb: sqnrDb(11.5, 13.25),
      changed: 321,
      fitted: true,
      damping: 0.01,
    })),
  },
};

const outputError = { name: HOSTILE, noise: 2, sqnrDb: 12.5 };
const sensitivity: Json = {
  format: 'tanren-sensitivity/1',
  samples: 4,
  outputs: [outputError],
  layers: [
    {
      values: [HOSTILE],
      nodes: [{ name: HOSTILE, opType: 'Concat' }],
      ownSqnrDb: 20.5,
      share: 0.5,
      shares: { [HOSTILE]: 0.5 },
      alone: { cost: 0.625, outputs: [outputError] },
    },
    { values: ['a/b/wide', 'b'], nodes: [], ownSqnrDb: 'equal', share: 0.25, shares: { [HOSTILE]: 0.25 } },
  ],
};

const sweepRow = (number: number, preset: string, AP: number, ms: number, onFront: boolean): Json => ({
  number,
  params: { [HOSTILE]: preset, range: { kind: 'percentile' } },
  status: 'built',
  onFront,
  metrics: { AP, ms },
  sizeBytes: 1000,
  gatesMissed: [],
  problems: [],
});
const sweep: Json = {
  pipeline: 'pipeline',
  axes: [
    { name: HOSTILE, sets: HOSTILE, values: [HOSTILE, 'a8w8', 'xint8'] },
    { name: 'range', sets: 'quantize.range', values: ['mse'] },
  ],
  objectives: [
    { metric: 'AP', goal: 'maximize' },
    { metric: 'ms', goal: 'minimize' },
    { metric: 'size', goal: 'minimize' },
  ],
  configurations: [
    sweepRow(1, HOSTILE, 0.5, 10, true),
    sweepRow(2, 'a8w8', 0.25, 5, true),
    {
      ...(sweepRow(3, 'xint8', 0, 0, false) as JsonObject),
      status: 'failed',
      metrics: { AP: 'equal' },
      problems: [{ stage: 'quantize', code: 'code', message: HOSTILE }],
    },
  ],
};

const latency = { repeats: 5, minMs: 1, meanMs: 2, stdMs: 0.5, p50Ms: 2, p90Ms: 3, p99Ms: 4 };
const bench: Json = {
  format: 'tanren-bench/1',
  where: { runner: 'cpu', name: HOSTILE },
  warmup: 1,
  repeats: 5,
  parts: [
    {
      part: 'backbone',
      fed: 'random',
      counts: [{ rows: 4, images: 2 }],
      imagesWithout: 0,
      forms: ['float', 'int8'].map(form => ({
        form,
        rows: [
          { strategy: { kind: 'one-batch' }, counts: [{ calls: 1, padded: 0, here: latency }], perImageMs: 2 },
          { strategy: { kind: 'fixed', batch: 1 }, counts: [{ calls: 4, padded: 3, here: latency }], perImageMs: 3 },
        ],
        best: 0,
        bestAt: [0],
        profile: { runs: 5, operators: [{ opType: HOSTILE, nodes: 1, meanMs: 1, share: 1 }], nodes: [] },
      })),
      speedup: 1.25,
    },
  ],
};

const [WIDTH, HEIGHT] = [96, 64];
const square = (x: number, size: number) => ({
  size: [HEIGHT, WIDTH],
  counts: encodeRleText(
    encodeMask(
      Array.from({ length: WIDTH * HEIGHT }, (_, i) =>
        Number(i % WIDTH >= x && i % WIDTH < x + size && i / WIDTH >= 10 && i / WIDTH < 10 + size),
      ),
      HEIGHT,
      WIDTH,
    ),
  ),
});
const detection = (image: number, x: number, size: number, score: number): Json => ({
  image_id: image,
  category_id: 1,
  bbox: [x, 10, size, size],
  score,
  segmentation: square(x, size),
});

/** What is there. */
const objects: readonly Json[] = (
  [
    [1, 5, 20],
    [2, 5, 20],
    [2, 60, 30],
  ] as const
).map(([image, x, size], index) => ({
  id: index + 1,
  image_id: image,
  category_id: 1,
  iscrowd: 0,
  area: size * size,
  bbox: [x, 10, size, size],
  segmentation: square(x, size),
}));

/** Image 2 differs: an object of the left side is missing, another has moved. */
const detections = {
  float: [detection(1, 5, 20, 0.9), detection(2, 5, 20, 0.9), detection(2, 60, 30, 0.8), detection(2, 70, 4, 0.2)],
  int8: [detection(1, 5, 20, 0.89), detection(2, 8, 20, 0.7)],
};

/** Writes everything under `folder`. */
export async function givenReportInputs(folder: string): Promise<Readonly<Record<string, Readonly<Record<string, string>>>>> {
  const write = (name: string, value: Json): string => {
    const path = join(folder, `${name}.json`);
    writeFileSync(path, JSON.stringify(value));
    return path;
  };
  const images = join(folder, 'images');
  mkdirSync(images, { recursive: true });
  for (const id of [1, 2]) writeFileSync(join(images, `${id}.jpg`), await makeJpeg(WIDTH, HEIGHT, id));
  const annotations = {
    images: [1, 2].map(id => ({ id, width: WIDTH, height: HEIGHT, file_name: `${id}.jpg` })),
    categories: [{ id: 1, name: HOSTILE }],
    annotations: objects,
  };
  return {
    metrics: { int8: write('metrics-int8', metrics(0.58)), float: write('metrics-float', metrics(0.6)) },
    verify: { quantize: write('verify', verify) },
    quantization: { backbone: write('quantization', quantization) },
    recovery: Object.fromEntries(Object.entries(recovery).map(([name, value]) => [name, write(`recovery-${name}`, value)])),
    sensitivity: { quantize: write('sensitivity', sensitivity) },
    sweeps: { presets: write('sweep', sweep) },
    sketches: { backbone: write('sketches', sketches) },
    compile: { target: write('compile', compile) },
    bench: { cpu: write('bench', bench) },
    detections: { int8: write('detections-int8', detections.int8), float: write('detections-float', detections.float) },
    data: { annotations: write('annotations', annotations), images },
  } satisfies InputPaths;
}
