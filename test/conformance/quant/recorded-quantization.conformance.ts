/** Ranges, scales, zero points and integers against those of onnxruntime.quantization 1.30. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getValue } from '../../../src/onnx/ir/edit.js';
import type { Model, ValueId } from '../../../src/onnx/ir/model.js';
import { encodeModel } from '../../../src/onnx/serde/encode-model.js';
import { readModel } from '../../../src/onnx/serde/model-file.js';
import { addSample } from '../../../src/quant/calibration/model-sketches.js';
import { openSketcher } from '../../../src/quant/calibration/sketch-model.js';
import { addressValues } from '../../../src/quant/calibration/value-address.js';
import type { Range } from '../../../src/quant/integers/qparams.js';
import type { OrtObserved, OrtRangeMethod } from '../../../src/quant/ort-compat/ort-method.js';
import {
  addSampleCounts,
  addSampleRanges,
  finishOrtObserved,
  type OrtHistogramRequest,
  type OrtTotal,
  planBinnings,
} from '../../../src/quant/ort-compat/ort-observed.js';
import { planQuantization } from '../../../src/quant/placement/plan-quantization.js';
import { insertQdq } from '../../../src/quant/qdq/insert-qdq.js';
import { chooseQParams } from '../../../src/quant/range/range.js';
import type { Observation, RangeMethod } from '../../../src/quant/range/range-method.js';
import { PRESETS, type QuantizationScheme } from '../../../src/quant/scheme/scheme.js';
import type { Sketch } from '../../../src/quant/sketch/sketch.js';
import { openSession } from '../../../src/runtime/session/session.js';
import { decodeNpy } from '../../../src/tensor/formats/npy.js';
import { decodeRawTensor } from '../../../src/tensor/raw-tensor.js';
import { makeTensor, type Tensor } from '../../../src/tensor/tensor.js';
import { findSharedFolder } from '../../support/shared-folder.js';

interface Recorded {
  readonly configs: Readonly<Record<string, RecordedConfig>>;
}

interface RecordedConfig {
  readonly ranges: Readonly<Record<string, readonly [number, number]>>;
  readonly qparams: Readonly<Record<string, RecordedQParams>>;
  readonly weights: Readonly<Record<string, { readonly sha256: string }>>;
  readonly biases: Readonly<Record<string, { readonly sha256: string }>>;
  readonly ops?: Readonly<Record<string, number>>;
  readonly firstOutput?: readonly (readonly number[])[];
}

interface RecordedQParams {
  readonly scale: readonly number[];
  readonly zeroPoint: readonly number[];
  readonly dtype: string;
}

const { u8s8, a8w8 } = PRESETS;
const perChannel = { ...u8s8.weight, perChannel: true } as const;

/** The scheme of each recorded configuration. */
const MIN_MAX: Readonly<Record<string, QuantizationScheme>> = {
  'minmax-u8s8': u8s8,
  'minmax-s8s8-sym-perchannel': { ...a8w8, weight: perChannel, placement: u8s8.placement },
  'minmax-u8u8-asymweight': PRESETS.u8u8,
  'minmax-u8s8-reduce-range-perchannel': { ...u8s8, weight: { ...perChannel, reduceRange: true } },
  'minmax-s16s8': { ...u8s8, activation: { ...u8s8.activation, dtype: 'int16' } },
};
/** Configurations with ranges from its calibrators, and our method for each. All have the scheme u8s8. */
const OTHER_RANGES: Readonly<Record<string, OrtRangeMethod>> = {
  'minmax-moving-average-u8s8': { kind: 'ort-moving-average' },
  'percentile-99.999-u8s8': { kind: 'ort-percentile', percentile: 99.999, of: 'magnitudes', bins: 2048 },
  'percentile-99.9-u8s8': { kind: 'ort-percentile', percentile: 99.9, of: 'magnitudes', bins: 2048 },
  'percentile-99.99-asym-u8s8': { kind: 'ort-percentile', percentile: 99.99, of: 'values', bins: 2048 },
  'entropy-u8s8': { kind: 'ort-entropy', bins: 128, quantizedBins: 128 },
};
const ALL_CONFIGURATIONS = [...Object.keys(MIN_MAX), ...Object.keys(OTHER_RANGES)];
const WISHES: readonly OrtHistogramRequest[] = [
  { of: 'magnitudes', bins: 2048 },
  { of: 'values', bins: 2048 },
  { of: 'values', bins: 128 },
];

const shared = findSharedFolder();
const suite = shared === undefined ? describe.skip : describe;

suite.each(['ultraface-rfb320', 'cifar-resnet20'])('recorded quantization of %s', name => {
  const folder = join(shared ?? '', 'conformance/quantization', name);
  let recorded: Recorded;
  const load = (): Promise<Model> => readModel(join(folder, 'preprocessed.onnx'));
  let oneThread: Calibrated;
  let twoThreads: Calibrated;

  beforeAll(async () => {
    recorded = JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8')) as Recorded;
    const npy = readFileSync(join(folder, 'calibration.npy'));
    oneThread = await calibrate(await load(), npy, 1);
    twoThreads = await calibrate(await load(), npy, 2);
  });

  // The ranges were recorded with two threads, which divide the sums of a convolution in another way than one thread. The product always uses one.
  describe('calibrated with one thread, as the product does', () => {
    it('ranges: within 1e-6 relative, some 16 roundings of a float32 sum', async () => {
      const model = await load();
      const { ranges } = configOf(recorded, 'minmax-u8s8');
      const ours = new Map(
        [...addressValues(model)].map(([id, address]) => [getValue(model.graph, id).name, oneThread.get(address)?.sketch]),
      );
      for (const [value, [low, high]] of Object.entries(ranges)) {
        const sketch = ours.get(value);
        expect([value, relative(sketch?.min, low), relative(sketch?.max, high)]).toEqual([value, true, true]);
      }
    });

    it.each(Object.keys(MIN_MAX))('%s: zero points and integers; scales within 1e-6', async config => {
      const model = await load();
      expectEqual(model, chooseAll(model, oneThread, { kind: 'min-max' }), MIN_MAX[config] ?? u8s8, configOf(recorded, config), 'near');
    });

    it.each(Object.entries(OTHER_RANGES))('%s: ranges within two bins, and most with equal bits', async (config, method) => {
      const model = await load();
      const expected = configOf(recorded, config);
      const differing = differingRanges(model, chooseAll(model, oneThread, method), expected);
      // A millionth of the range for another order of sums, plus the bin that an element may leave, at both ends.
      for (const { value, ours, theirs } of differing) {
        const bins = 'bins' in method ? method.bins : Number.POSITIVE_INFINITY;
        const largest = Math.max(...(expected.ranges[value] ?? []).map(Math.abs));
        const bound = 1e-6 * largest + (2 * largest) / bins;
        expect([value, Math.abs(ours.low - theirs.low) <= bound, Math.abs(ours.high - theirs.high) <= bound]).toEqual([value, true, true]);
      }
      expect(differing.length).toBeLessThan(Object.keys(expected.ranges).length / 2);
    });
  });

  // Sums also depend on the vector width: the record is from a processor with AVX-512.
  (hasAvx512() ? describe : describe.skip)('calibrated with two threads, as recorded', () => {
    it.each(ALL_CONFIGURATIONS)('%s: ranges, scales, zero points and integers, bit for bit', async config => {
      const model = await load();
      const expected = configOf(recorded, config);
      const ranges = chooseAll(model, twoThreads, OTHER_RANGES[config] ?? { kind: 'min-max' });
      expect(differingRanges(model, ranges, expected)).toEqual([]);
      expectEqual(model, ranges, MIN_MAX[config] ?? u8s8, expected, 'exact');
    });
  });

  it.each(ALL_CONFIGURATIONS)('%s: scales, zero points and integers, from the recorded ranges', async config => {
    const model = await load();
    const expected = configOf(recorded, config);
    const ranges = recordedRanges(model, expected);
    expectEqual(model, ranges, MIN_MAX[config] ?? u8s8, expected, 'exact');
  });

  // Models that the peer could load gave these outputs; the other ones must load here.
  it.each(Object.keys(MIN_MAX))('%s: the model loads, and its outputs equal the recorded ones to one quantization step', async config => {
    const model = await load();
    const expected = configOf(recorded, config);
    const ranges = recordedRanges(model, expected);
    const plan = planQuantization(model.graph, { scheme: MIN_MAX[config] ?? u8s8, observations: known(ranges), excluded: new Set() });
    insertQdq(model, plan, 'com.microsoft');
    const firstOutput = expected.firstOutput ?? [];
    const outputs = await runFirst(model, readFileSync(join(folder, 'calibration.npy')), Math.max(1, firstOutput.length));
    const [output] = model.graph.outputs.map(id => getValue(model.graph, id).name);
    const step = expected.qparams[`${output}_QuantizeLinear_Input`]?.scale[0] ?? 0;
    // 16-bit activations run in float between Q and DQ, where kernels of the recorded opset 21 round differently: a few of the 65,536 steps.
    const bound = (config.includes('s16') ? 4 : 1.001) * step;
    for (const [i, theirs] of firstOutput.entries()) {
      const worst = Math.max(...theirs.map((x, k) => Math.abs(x - (outputs[i]?.[k] ?? Number.NaN))));
      expect(worst).toBeLessThanOrEqual(bound);
    }
    expect(outputs.every(data => data.every(x => Number.isFinite(x)))).toBe(true);
  });
});

const known = (ranges: ReadonlyMap<ValueId, Range>): Map<ValueId, Observation> =>
  new Map([...ranges].map(([id, range]) => [id, { kind: 'known', range }]));

/** The first output of each of the first samples. */
async function runFirst(model: Model, npy: Uint8Array, samples: number): Promise<Float32Array[]> {
  const session = await openSession(encodeModel(model), { optimization: 'all' });
  const outputs: Float32Array[] = [];
  for (const sample of samplesOf(npy).slice(0, samples)) {
    const [name = '', first = ''] = [session.inputNames[0], session.outputNames[0]];
    const output = (await session.run({ [name]: sample }))[first];
    if (output?.dtype !== 'float32') throw new Error('the first output is float32');
    outputs.push(output.data);
  }
  await session.close();
  return outputs;
}

function samplesOf(npy: Uint8Array): Tensor[] {
  const all = decodeNpy(npy);
  if (all.dtype !== 'float32') throw new Error('calibration data is float32');
  const [count = 0, ...rest] = all.dims;
  const size = all.data.length / count;
  return Array.from({ length: count }, (_, i) => makeTensor('float32', [1, ...rest], all.data.slice(i * size, (i + 1) * size)));
}

type Calibrated = ReadonlyMap<string, { readonly sketch: Sketch; readonly ort: OrtObserved }>;

function hasAvx512(): boolean {
  return existsSync('/proc/cpuinfo') && readFileSync('/proc/cpuinfo', 'utf8').includes('avx512f');
}

async function calibrate(model: Model, npy: Uint8Array, threads: number): Promise<Calibrated> {
  const [input] = model.graph.inputs.map(id => getValue(model.graph, id)).filter(value => value.constant === undefined);
  const sketcher = openSketcher(model, { budgetBytes: 4 << 20, freeDim: 1, threads });
  const total = new Map<string, Sketch>();
  const collected = new Map<string, OrtTotal>();
  const feeds = samplesOf(npy).map(sample => ({ [input?.name ?? '']: sample }));
  for (const feed of feeds) {
    const sketches = await sketcher.sample(feed);
    addSample(total, sketches);
    addSampleRanges(collected, sketches);
  }
  const binnings = planBinnings(total, WISHES);
  for (const feed of feeds) addSampleCounts(collected, await sketcher.count(feed, binnings));
  await sketcher.close();
  const none: OrtTotal = { sampleMin: [], sampleMax: [], counts: [] };
  return new Map(
    [...total].map(([address, sketch]) => [address, { sketch, ort: finishOrtObserved(collected.get(address) ?? none, WISHES) }]),
  );
}

function chooseAll(model: Model, calibrated: Calibrated, method: RangeMethod): Map<ValueId, Range> {
  const ranges = new Map<ValueId, Range>();
  const integers = { ...u8s8.activation, reduceRange: false };
  for (const [id, address] of addressValues(model)) {
    const found = calibrated.get(address);
    const { name } = getValue(model.graph, id);
    if (found !== undefined) ranges.set(id, chooseQParams({ kind: 'seen', name, ...found }, method, integers).range);
  }
  return ranges;
}

interface Difference {
  readonly value: string;
  readonly ours: Range;
  readonly theirs: Range;
}

/** The recorded ranges that differ from ours in any bit. */
function differingRanges(model: Model, ranges: ReadonlyMap<ValueId, Range>, expected: RecordedConfig): Difference[] {
  const byName = new Map([...ranges].map(([id, range]) => [getValue(model.graph, id).name, range]));
  return Object.entries(expected.ranges).flatMap(([value, [low, high]]) => {
    const ours = byName.get(value) ?? { low: Number.NaN, high: Number.NaN };
    return ours.low === low && ours.high === high ? [] : [{ value, ours, theirs: { low, high } }];
  });
}

function expectEqual(
  model: Model,
  ranges: ReadonlyMap<ValueId, Range>,
  scheme: QuantizationScheme,
  expected: RecordedConfig,
  how: 'exact' | 'near',
): void {
  insertQdq(model, planQuantization(model.graph, { scheme, observations: known(ranges), excluded: new Set() }), 'com.microsoft');
  const found = readParameters(model);
  expect([...found.keys()].sort()).toEqual(Object.keys(expected.qparams).sort());
  for (const [name, { scale, zeroPoint, dtype }] of Object.entries(expected.qparams)) {
    const ours = found.get(name);
    expect({ name, dtype: ours?.dtype, zeroPoint: ours?.zeroPoint }).toEqual({ name, dtype, zeroPoint });
    if (how === 'exact') expect({ name, scale: ours?.scale }).toEqual({ name, scale });
    else for (const [i, one] of scale.entries()) expect(relative(ours?.scale[i], one)).toBe(true);
  }
  for (const [name, { sha256 }] of Object.entries(expected.weights))
    expect([name, found.get(`${name}_quantized`)?.sha256]).toEqual([name, sha256]);
  if (how === 'exact') {
    for (const [name, { sha256 }] of Object.entries(expected.biases))
      expect([name, found.get(`${name}_quantized`)?.sha256]).toEqual([name, sha256]);
  }
  if (expected.ops !== undefined) expect(countOps(model)).toEqual(expected.ops);
}

interface FoundParameters extends RecordedQParams {
  readonly sha256: string | undefined;
}

/** Parameters of the tensors that QuantizeLinear reads, and of the constants that DequantizeLinear reads. */
function readParameters(model: Model): Map<string, FoundParameters> {
  const { graph } = model;
  const found = new Map<string, FoundParameters>();
  for (const { opType, inputs } of graph.nodes.values()) {
    if (opType !== 'QuantizeLinear' && opType !== 'DequantizeLinear') continue;
    const [source, scale, zeroPoint] = inputs.map(id => (id === undefined ? undefined : getValue(graph, id)));
    if (opType === 'DequantizeLinear' && source?.constant === undefined) continue;
    const { constant } = source ?? {};
    found.set(source?.name ?? '', {
      scale: numbersOf(scale?.constant),
      zeroPoint: numbersOf(zeroPoint?.constant),
      dtype: zeroPoint?.constant?.dtype ?? '',
      sha256: constant !== undefined && 'bytes' in constant ? createHash('sha256').update(constant.bytes).digest('hex') : undefined,
    });
  }
  return found;
}

function numbersOf(constant: ReturnType<typeof getValue>['constant']): number[] {
  if (constant === undefined || !('bytes' in constant)) return [];
  return Array.from(decodeRawTensor(constant).data as ArrayLike<number | bigint>, Number);
}

function countOps({ graph }: Model): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { opType } of graph.nodes.values()) counts[opType] = (counts[opType] ?? 0) + 1;
  return counts;
}

function configOf(recorded: Recorded, name: string): RecordedConfig {
  const config = recorded.configs[name];
  if (config === undefined) throw new Error(`no configuration ${name} is recorded`);
  return config;
}

function relative(ours: number | undefined, theirs: number): boolean {
  return ours !== undefined && Math.abs(ours - theirs) <= 1e-6 * Math.abs(theirs);
}

/** The recorded ranges by value; constants have none. */
function recordedRanges(model: Model, expected: ReturnType<typeof configOf>): ReadonlyMap<ValueId, Range> {
  const ranges = new Map<ValueId, Range>();
  for (const value of model.graph.values.values()) {
    const range = expected.ranges[value.name];
    if (range !== undefined && value.constant === undefined) ranges.set(value.id, { low: range[0], high: range[1] });
  }
  return ranges;
}
