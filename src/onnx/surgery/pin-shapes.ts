/** How does a model with free sizes get fixed ones? Sizes are given per input or by name, written wherever the name stands, and nothing that was a number changes. */
import { findClosest } from '../../base/did-you-mean.js';
import { getValue, subgraphsOf } from '../ir/edit.js';
import type { Dim, Graph, Model, Value } from '../ir/model.js';
import { OnnxError } from '../ir/onnx-error.js';
import { formatDims } from '../shape-inference/context/node-context.js';

/** A number, or 'free' for a size that is meant to stay free. */
export type PinnedDim = number | 'free';

export interface Pins {
  /** Whole shapes by input. */
  readonly shapes: Readonly<Record<string, readonly PinnedDim[]>>;
  /** Sizes by the name that the model gives them. */
  readonly dims: Readonly<Record<string, PinnedDim>>;
  /** Of a four-dimensional input whose first size is free and not given otherwise. */
  readonly batch: PinnedDim;
}

export interface PinRecord {
  readonly input: string;
  readonly before: string;
  readonly after: string;
}

/**
 * Writes sizes into the inputs of `model`, and into every type in which a name stands that they decide. Inferred types are not followed up here.
 * Pins of inputs and names that the model does not have do nothing: see `assertPinsKnown`.
 * @returns what changed, per input.
 * @throws OnnxError `pin-mismatch` where a number or rank of the model is another.
 */
export function pinShapes(model: Model, pins: Pins): readonly PinRecord[] {
  const { graph } = model;
  const inputs = graph.inputs.map(id => getValue(graph, id)).filter(value => value.constant === undefined);
  const named = new Map(Object.entries(pins.dims));
  const records: PinRecord[] = [];
  for (const input of inputs) {
    const before = dimsOf(input);
    const given = pins.shapes[input.name];
    const dims = given === undefined ? before?.map(dim => pinByName(dim, named)) : pinWhole(input, before, given, named);
    if (dims === undefined || input.type?.kind !== 'tensor') continue;
    const batched = given === undefined ? pinBatch(dims, pins.batch, named, before) : dims;
    if (formatDims(batched) === formatDims(before)) continue;
    input.type = { ...input.type, dims: batched };
    records.push({ input: input.name, before: formatDims(before), after: formatDims(batched) });
  }
  writeNamed(graph, named);
  return records;
}

/** @throws OnnxError `free-dims` for inputs with sizes that are neither numbers nor meant to be free. */
export function assertPinned({ graph }: Model, pins: Pins): void {
  const free = graph.inputs.flatMap(id => {
    const value = getValue(graph, id);
    return isPinned(value, pins) ? [] : [`"${value.name}" ${formatDims(dimsOf(value))}`];
  });
  if (free.length === 0) return;
  throw new OnnxError('free-dims', `sizes of inputs are free: ${free.join(', ')}`, {
    help: 'give them by `shapes` (input → whole shape) or `dims` (name → size); `free` for one that is meant to stay so, such as a number of RoIs',
  });
}

function isPinned({ name, type, constant }: Value, { shapes, dims, batch }: Pins): boolean {
  if (type?.kind !== 'tensor' || constant !== undefined) return true;
  const meant = (dim: Dim, axis: number): boolean =>
    typeof dim === 'number' ||
    shapes[name]?.[axis] === 'free' ||
    (typeof dim === 'string' && dims[dim] === 'free') ||
    (axis === 0 && type.dims?.length === 4 && batch === 'free');
  return type.dims?.every(meant) ?? false;
}

function dimsOf(value: Value): readonly Dim[] | undefined {
  return value.type?.kind === 'tensor' ? value.type.dims : undefined;
}

/** What pins can name in a model. */
export interface Pinnable {
  readonly inputs: readonly string[];
  readonly dims: readonly string[];
  /** Its inputs and their shapes, for messages. */
  readonly described: string;
}

export function listPinnable({ graph }: Model): Pinnable {
  const inputs = graph.inputs.map(id => getValue(graph, id)).filter(value => value.constant === undefined);
  return {
    inputs: inputs.map(({ name }) => name),
    dims: [...new Set(inputs.flatMap(input => dimsOf(input) ?? []).filter(dim => typeof dim === 'string'))],
    described: inputs.map(input => `${input.name} ${formatDims(dimsOf(input))}`).join(', '),
  };
}

/** @throws OnnxError `pin-unknown` for an input or a name that none of `models` has: the whole, and the part that was cut out of it. */
export function assertPinsKnown({ shapes, dims }: Pins, models: readonly Pinnable[]): void {
  const [inputNames, dimNames] = [models.flatMap(model => model.inputs), models.flatMap(model => model.dims)];
  const unknown = [
    ...Object.keys(shapes).flatMap(name => (inputNames.includes(name) ? [] : [describeUnknown('input', name, inputNames)])),
    ...Object.keys(dims).flatMap(name => (dimNames.includes(name) ? [] : [describeUnknown('free size', name, dimNames)])),
  ];
  if (unknown.length === 0) return;
  throw new OnnxError('pin-unknown', `the model has ${unknown.join('; ')}`, {
    help: `its inputs are ${models.map(({ described }) => described).join('; after the cut ')}`,
  });
}

function describeUnknown(what: string, name: string, known: readonly string[]): string {
  const closest = findClosest(name, known);
  return `no ${what} "${name}"${closest === undefined ? '' : ` (did you mean "${closest}"?)`}`;
}

function pinByName(dim: Dim, named: ReadonlyMap<string, PinnedDim>): Dim {
  const given = typeof dim === 'string' ? named.get(dim) : undefined;
  return typeof given === 'number' ? given : dim;
}

/** The whole shape of an input; the names that it decides are added to `named`. */
function pinWhole(
  input: Value,
  before: readonly Dim[] | undefined,
  given: readonly PinnedDim[],
  named: Map<string, PinnedDim>,
): readonly Dim[] {
  const reject = (why: string): OnnxError =>
    new OnnxError(
      'pin-mismatch',
      `input "${input.name}" is ${formatDims(before)} in the model, ${formatDims(given)} is asked for: ${why}`,
      {
        help: 'sizes that the model fixes cannot be changed: its weights and constants may count on them; export it again at the size wanted',
      },
    );
  if (before !== undefined && before.length !== given.length) throw reject(`it has ${before.length} dimensions`);
  return given.map((size, axis): Dim => {
    const dim = before?.[axis];
    if (typeof dim === 'number' && size !== dim) throw reject(`size ${axis} is ${dim}`);
    if (typeof dim === 'string') {
      const known = named.get(dim);
      if (known !== undefined && known !== size) throw reject(`"${dim}" is ${known} elsewhere`);
      named.set(dim, size);
    }
    return size === 'free' ? dim : size;
  });
}

function pinBatch(
  dims: readonly Dim[],
  batch: PinnedDim,
  named: Map<string, PinnedDim>,
  before: readonly Dim[] | undefined,
): readonly Dim[] {
  const [first, ...rest] = dims;
  if (batch === 'free' || dims.length !== 4 || typeof first === 'number') return dims;
  if (typeof first === 'string' && named.get(first) === 'free') return dims;
  const name = before?.[0];
  if (typeof name === 'string') named.set(name, batch);
  return [batch, ...rest];
}

/** A name means the same size wherever it stands. */
function writeNamed(graph: Graph, named: ReadonlyMap<string, PinnedDim>): void {
  for (const value of graph.values.values()) {
    if (value.type?.kind !== 'tensor' || value.type.dims?.some(dim => typeof dim === 'string' && named.has(dim)) !== true) continue;
    value.type = { ...value.type, dims: value.type.dims.map(dim => pinByName(dim, named)) };
  }
  for (const node of graph.nodes.values()) for (const sub of subgraphsOf(node)) writeNamed(sub, named);
}
