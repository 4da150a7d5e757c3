/** Whether a unit fits into on-chip memory, and if not, strips of output rows that do and what they cost in traffic. */
import { findInts, getInt } from '../../onnx/ir/attribute.js';
import type { Model, Node, ValueId } from '../../onnx/ir/model.js';
import type { RowStrips, StripReport } from '../report/memory-report.js';
import type { NodeUnit, UnitGraph } from '../units/node-units.js';
import { findWindow, tensorOf } from '../units/unit-facts.js';
import { bytesOf, endsOf } from '../units/unit-work.js';

/** @param sizes bytes on the device per byte of the model's file; 0.5 for a float32 model that the device computes in 16 bits. */
export function findStrips(graph: UnitGraph, id: number, capacityBytes: number, sizes = 1): StripReport {
  const unit = graph.units[id];
  if (unit === undefined) return { fit: 'unknown', bytes: 0 };
  const { inputs, outputs, constants } = endsOf(graph.model, unit);
  const sum = (ids: readonly ValueId[]): number => ids.reduce((total, value) => total + bytesOf(graph.model, value) * sizes, 0);
  const bytes = sum(inputs) + sum(outputs) + sum(constants);
  if (bytes <= capacityBytes) return { fit: 'fits', bytes };
  const rows = findRows(graph.model, unit, inputs, outputs);
  if (rows === undefined) return { fit: 'unknown', bytes };
  const inputRowBytes = rows.inputRowBytes * sizes;
  const outputRowBytes = rows.outputRowBytes * sizes;
  const strips = chooseStrips({ ...rows, inputRowBytes, outputRowBytes, weightBytes: sum(constants) }, capacityBytes);
  return strips === undefined ? { fit: 'too-large', bytes } : { fit: 'rows', bytes, strips };
}

/** A unit whose output rows depend on a window of input rows. */
export interface RowWork {
  readonly inputRows: number;
  readonly outputRows: number;
  /** Of all inputs, per row. */
  readonly inputRowBytes: number;
  readonly outputRowBytes: number;
  readonly weightBytes: number;
  /** Output channels, which share the weights evenly. */
  readonly channels: number;
  readonly stride: number;
  /** Input rows that one output row reads. */
  readonly window: number;
  /** Rows of padding above the input. */
  readonly padding: number;
}

/** The strips with the least traffic; of those with equal traffic, the fewest. Undefined if not even single rows fit. */
export function chooseStrips(work: RowWork, capacityBytes: number): RowStrips | undefined {
  let best: RowStrips | undefined;
  for (let count = 1; count <= work.outputRows; count++) {
    const rows = Math.ceil(work.outputRows / count);
    if (Math.ceil(work.outputRows / rows) !== count) continue;
    const { most, total } = countInputRows(work, rows);
    const held = most * work.inputRowBytes + rows * work.outputRowBytes;
    const moved = total * work.inputRowBytes + work.outputRows * work.outputRowBytes;
    const slice = Math.ceil(work.weightBytes / work.channels);
    const isResident = held + work.weightBytes <= capacityBytes;
    if (!isResident && held + slice > capacityBytes) continue;
    const trafficBytes = moved + work.weightBytes * (isResident ? 1 : count);
    if (best === undefined || trafficBytes < best.trafficBytes)
      best = { count, rows, weights: isResident ? 'resident' : 'streamed', trafficBytes };
  }
  return best;
}

/** Input rows that strips of `rows` output rows read: of the strip with most, and of all strips. */
function countInputRows({ inputRows, outputRows, stride, window, padding }: RowWork, rows: number): { most: number; total: number } {
  let [most, total] = [0, 0];
  for (let start = 0; start < outputRows; start += rows) {
    const end = Math.min(outputRows, start + rows);
    const first = Math.max(0, start * stride - padding);
    const last = Math.min(inputRows, (end - 1) * stride - padding + window);
    most = Math.max(most, last - first);
    total += Math.max(0, last - first);
  }
  return { most, total };
}

const WINDOWED = new Set(['Conv', 'MaxPool', 'AveragePool']);
/** Each output row depends on the same row of every input that has rows. */
const ROW_BY_ROW = new Set([
  'Add',
  'Sub',
  'Mul',
  'Div',
  'Relu',
  'LeakyRelu',
  'PRelu',
  'Clip',
  'Sigmoid',
  'HardSigmoid',
  'HardSwish',
  'Tanh',
  'Concat',
  'Split',
  'QuantizeLinear',
  'DequantizeLinear',
]);

function findRows(
  model: Model,
  { kind, target }: NodeUnit,
  inputs: readonly ValueId[],
  outputs: readonly ValueId[],
): Omit<RowWork, 'weightBytes'> | undefined {
  const [input, ...others] = inputs.map(id => findShape(model, id));
  const [output, ...rest] = outputs.map(id => findShape(model, id));
  if (input === undefined || output === undefined) return undefined;
  // An input with other rows, such as a factor per channel, is none that strips cut.
  if (others.some(shape => shape?.[2] !== input[2]) || rest.some(shape => shape?.[2] !== output[2])) return undefined;
  const shared = { inputRows: input[2], outputRows: output[2], outputRowBytes: bytesPerRow(model, outputs), channels: output[1] };
  const inputRowBytes = bytesPerRow(model, inputs);
  if (WINDOWED.has(target.opType)) {
    const window = findRowWindow(model, target, input[2], output[2]);
    return window === undefined || inputs.length !== 1 ? undefined : { ...shared, inputRowBytes, ...window };
  }
  const isRowByRow = (kind === 'requantize' || ROW_BY_ROW.has(target.opType)) && !movesRows(target) && input[2] === output[2];
  return isRowByRow ? { ...shared, inputRowBytes, stride: 1, window: 1, padding: 0 } : undefined;
}

function movesRows(node: Node): boolean {
  const axis = getInt(node, 'axis', node.opType === 'Split' ? 0 : 1);
  return (node.opType === 'Concat' || node.opType === 'Split') && (axis === 2 || axis === -2);
}

/** Padding above the input: stated, or for `auto_pad` what the sizes imply. */
function findRowWindow(
  model: Model,
  node: Node,
  inputRows: number,
  outputRows: number,
): Pick<RowWork, 'stride' | 'window' | 'padding'> | undefined {
  const found = findWindow(model, node);
  const [kernel, stride, dilation] = [found?.kernel[0], found?.stride[0], found?.dilation[0]];
  if (kernel === undefined || stride === undefined || dilation === undefined) return undefined;
  const window = (kernel - 1) * dilation + 1;
  const implied = Math.max(0, (outputRows - 1) * stride + window - inputRows);
  return { stride, window, padding: findInts(node, 'pads')?.[0] ?? Math.floor(implied / 2) };
}

type ImageShape = readonly [number, number, number, number];

/** The shape of a value with rows: rank 4. */
function findShape(model: Model, id: ValueId): ImageShape | undefined {
  const dims = tensorOf(model, id).dims?.filter(dim => typeof dim === 'number') ?? [];
  const [n, c, h, w] = dims;
  const isKnown = n !== undefined && c !== undefined && h !== undefined && w !== undefined;
  return isKnown && dims.length === 4 && h > 0 ? [n, c, h, w] : undefined;
}

function bytesPerRow(model: Model, ids: readonly ValueId[]): number {
  return ids.reduce((sum, id) => sum + bytesOf(model, id) / (findShape(model, id)?.[2] ?? 1), 0);
}
