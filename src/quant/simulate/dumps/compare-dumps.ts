/** Compares tensors that a device dumped with the simulation of a model, layer by layer. */
import type { Model, ValueId } from '../../../onnx/ir/model.js';
import { sortTopologically } from '../../../onnx/ir/sort.js';
import { encodeModel } from '../../../onnx/serde/encode-model.js';
import { inferShapes, writeTypes } from '../../../onnx/shape-inference/infer-shapes.js';
import type { NamedTensors } from '../../../runtime/session/model-inputs.js';
import type { Tensor } from '../../../tensor/tensor.js';
import { QuantError } from '../../integers/quant-error.js';
import { openSimulated } from '../open-simulated.js';
import type { RoundingMode } from '../steps/rounding-mode.js';
import { type DumpedSteps, toTensor } from './dumped-tensor.js';
import { listComputable, probeModel } from './probe-model.js';
import { listQuantizedValues, type QuantizedValue } from './quantized-values.js';

/** How far a value is from its simulation, in steps of its integers. */
export interface Deviation {
  /** Elements further away than the tolerance. */
  readonly differing: number;
  readonly maxSteps: number;
}

export interface ComparedValue {
  readonly name: string;
  readonly opType: string;
  readonly elements: number;
  /** Elements of a float dump that are no multiple of the scale. */
  readonly offGrid: number;
  /** The layer alone: computed from what the device dumped before it. Absent if that is not enough. */
  readonly own?: Deviation;
  /** Computed from the inputs of the model, through all layers before. Absent for the values where that begins. */
  readonly fromInputs?: Deviation;
}

export interface DumpComparison {
  readonly rounding: RoundingMode;
  /** In the order of the model. */
  readonly values: readonly ComparedValue[];
  /** The first layer that computes something else than the device from equal inputs. */
  readonly first?: string;
  /** Share of the results of layers that are simulated alone which deviate, by rounding mode. */
  readonly shares: readonly { readonly rounding: RoundingMode; readonly elements: number; readonly differing: number }[];
}

export interface DumpRequest {
  readonly dumps: ReadonlyMap<ValueId, DumpedSteps>;
  /** Tensors of inputs of the model. */
  readonly inputs: NamedTensors;
  /** Modes to try; that with the fewest deviating results is reported. */
  readonly roundings: readonly RoundingMode[];
  /** Steps by which a result may be off. */
  readonly tolerance: number;
  readonly warn: (message: string) => void;
}

/** Sorts the model and infers its shapes, as the comparison needs it. @throws QuantError `dump-model`; OnnxError of inference. */
export function prepareForDumps(model: Model): readonly QuantizedValue[] {
  sortTopologically(model.graph);
  writeTypes(model, inferShapes(model));
  const values = listQuantizedValues(model);
  if (values.length > 0) return values;
  throw new QuantError('dump-model', 'the model has no quantized values with a fixed shape', {
    help: 'name the quantized model that the device ran; set its named sizes, for example --pin box_rois=1',
  });
}

/**
 * @param model prepared by `prepareForDumps`; it is not changed.
 * @throws QuantError `dump-inputs` if nothing can be computed from the dumps; as `openSimulated`.
 */
export async function compareDumps(model: Model, all: readonly QuantizedValue[], request: DumpRequest): Promise<DumpComparison> {
  const { dumps, inputs, roundings } = request;
  const dumped = all.filter(({ id }) => dumps.has(id));
  const given = new Set(dumped.map(({ id }) => id));
  const computable = listComputable(model, new Set(Object.keys(inputs)), given);
  const wanted = dumped.filter(({ id }) => computable.has(id));
  if (wanted.length === 0) {
    throw new QuantError('dump-inputs', 'no dumped value can be computed from the other dumps', {
      help: 'dump the inputs of the model too, or two values of which one is computed from the other',
    });
  }
  const starts = dumped.filter(({ id }) => !computable.has(id));
  const tried: { rounding: RoundingMode; own: ReadonlyMap<ValueId, Deviation> }[] = [];
  for (const rounding of roundings) {
    const own = await simulate(model, { wanted, replaced: dumped, rounding, request });
    tried.push({ rounding, own });
  }
  const shares = tried.map(({ rounding, own }) => ({ rounding, elements: sumElements(wanted), differing: sumDiffering(own) }));
  const best = tried.reduce((least, one) => (sumDiffering(one.own) < sumDiffering(least.own) ? one : least));
  const fromInputs = await simulate(model, { wanted, replaced: starts, rounding: best.rounding, request });
  const values = dumped.map((value): ComparedValue => {
    const [own, through] = [best.own.get(value.id), fromInputs.get(value.id)];
    return {
      name: value.name,
      opType: value.opType,
      elements: elementsOf(value),
      offGrid: dumps.get(value.id)?.offGrid ?? 0,
      ...(own === undefined ? {} : { own }),
      ...(through === undefined ? {} : { fromInputs: through }),
    };
  });
  const first = values.find(({ own }) => (own?.differing ?? 0) > 0)?.name;
  return { rounding: best.rounding, values, shares, ...(first === undefined ? {} : { first }) };
}

interface Simulation {
  readonly wanted: readonly QuantizedValue[];
  readonly replaced: readonly QuantizedValue[];
  readonly rounding: RoundingMode;
  readonly request: DumpRequest;
}

async function simulate(model: Model, { wanted, replaced, rounding, request }: Simulation): Promise<ReadonlyMap<ValueId, Deviation>> {
  const { model: probe, inputOf } = probeModel(model, wanted, replaced);
  const open = openSimulated({ arithmetic: 'integers', rounding }, request.warn);
  const session = await open(encodeModel(probe), { optimization: 'basic' });
  try {
    const feeds: Record<string, Tensor> = {};
    for (const name of session.inputNames) {
      const tensor = request.inputs[name];
      if (tensor !== undefined) feeds[name] = tensor;
    }
    for (const value of replaced) {
      const [name, steps] = [inputOf.get(value.id), request.dumps.get(value.id)];
      if (name !== undefined && steps !== undefined && session.inputNames.includes(name)) feeds[name] = toTensor(steps, value);
    }
    const outputs = await session.run(feeds);
    const found = new Map<ValueId, Deviation>();
    for (const value of wanted) {
      const [computed, steps] = [outputs[value.name], request.dumps.get(value.id)];
      if (computed !== undefined && steps !== undefined) found.set(value.id, measure(computed, steps, request.tolerance));
    }
    return found;
  } finally {
    await session.close();
  }
}

/** Float dumps have steps with the error of float32. */
const SLACK = 1 / 256;

function measure({ data }: Tensor, { steps }: DumpedSteps, tolerance: number): Deviation {
  let [differing, maxSteps] = [0, 0];
  for (let index = 0; index < steps.length; index++) {
    const distance = Math.abs(Number(data[index]) - (steps[index] ?? 0));
    // A device that computed NaN deviates in every tolerance.
    if (!(distance <= tolerance + SLACK)) differing++;
    if (!(distance <= maxSteps)) maxSteps = Number.isNaN(distance) ? Number.POSITIVE_INFINITY : distance;
  }
  return { differing, maxSteps: maxSteps <= SLACK ? 0 : maxSteps };
}

function elementsOf({ dims }: QuantizedValue): number {
  return dims.reduce((product, dim) => product * dim, 1);
}

function sumElements(values: readonly QuantizedValue[]): number {
  return values.reduce((sum, value) => sum + elementsOf(value), 0);
}

function sumDiffering(own: ReadonlyMap<ValueId, Deviation>): number {
  return [...own.values()].reduce((sum, { differing }) => sum + differing, 0);
}
