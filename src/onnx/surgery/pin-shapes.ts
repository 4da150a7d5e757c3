/** Assignment of fixed sizes to free dims of model inputs, given per input or by dim name. */
import { findClosest } from '../../base/text/did-you-mean.js';
import { getValue, subgraphsOf } from '../ir/edit.js';
import type { Dim, Graph, Model, Value } from '../ir/model.js';
import { OnnxError } from '../ir/onnx-error.js';
import { formatDims } from '../shape-inference/context/node-context.js';

/** A number, or 'free' for a dim that stays free on purpose. */
export type PinnedDim = number | 'free';

export interface Pins {
  /** Complete shapes by input. */
  readonly shapes: Readonly<Record<string, readonly PinnedDim[]>>;
  /** Sizes by dim name. */
  readonly dims: Readonly<Record<string, PinnedDim>>;
  /** The first dim of inputs of rank 4 if it is free and not given otherwise. */
  readonly batch: PinnedDim;
}

export interface PinRecord {
  readonly input: string;
  readonly before: string;
  readonly after: string;
}

/**
 * Writes sizes into the inputs of `model`, and into all types with a dim name that gets a size. The caller infers shapes again.
 * Pins of unknown inputs and dim names are ignored here: see `assertPinsKnown`.
 * @returns the changed inputs.
 * @throws OnnxError `pin-mismatch` if a pin contradicts a fixed dim or the rank of the model.
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

/** @throws OnnxError `free-dims` for inputs with dims that are neither numbers nor pinned as 'free'. */
export function assertPinned({ graph }: Model, pins: Pins): void {
  const free = graph.inputs.flatMap(id => {
    const value = getValue(graph, id);
    return isPinned(value, pins) ? [] : [`"${value.name}" ${formatDims(dimsOf(value))}`];
  });
  if (free.length === 0) return;
  throw new OnnxError('free-dims', `inputs have free dims: ${free.join(', ')}`, {
    help: 'set them with `shapes` (input → complete shape) or `dims` (dim name → size); use `free` for a dim that must stay free, such as the number of RoIs',
  });
}

function isPinned({ name, type, constant }: Value, { shapes, dims, batch }: Pins): boolean {
  if (type?.kind !== 'tensor' || constant !== undefined) return true;
  const isDecided = (dim: Dim, axis: number): boolean =>
    typeof dim === 'number' ||
    shapes[name]?.[axis] === 'free' ||
    (typeof dim === 'string' && dims[dim] === 'free') ||
    (axis === 0 && type.dims?.length === 4 && batch === 'free');
  return type.dims?.every(isDecided) ?? false;
}

function dimsOf(value: Value): readonly Dim[] | undefined {
  return value.type?.kind === 'tensor' ? value.type.dims : undefined;
}

/** The inputs and dim names of a model that pins can refer to. */
export interface Pinnable {
  readonly inputs: readonly string[];
  readonly dims: readonly string[];
  /** The inputs with their shapes, for messages. */
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

/** @throws OnnxError `pin-unknown` for an input or dim name that none of `models` has: the whole model and the part cut from it. */
export function assertPinsKnown({ shapes, dims }: Pins, models: readonly Pinnable[]): void {
  const [inputNames, dimNames] = [models.flatMap(model => model.inputs), models.flatMap(model => model.dims)];
  const unknown = [
    ...Object.keys(shapes).flatMap(name => (inputNames.includes(name) ? [] : [describeUnknown('input', name, inputNames)])),
    ...Object.keys(dims).flatMap(name => (dimNames.includes(name) ? [] : [describeUnknown('free dim', name, dimNames)])),
  ];
  if (unknown.length === 0) return;
  throw new OnnxError('pin-unknown', `the model has ${unknown.join('; ')}`, {
    help: `its inputs are ${models.map(({ described }) => described).join('; after the cut: ')}`,
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

/** Pins the complete shape of an input; dim names that get a size are added to `named`. */
function pinWhole(
  input: Value,
  before: readonly Dim[] | undefined,
  given: readonly PinnedDim[],
  named: Map<string, PinnedDim>,
): readonly Dim[] {
  const reject = (why: string): OnnxError =>
    new OnnxError(
      'pin-mismatch',
      `input "${input.name}" has shape ${formatDims(before)} in the model, ${formatDims(given)} is requested: ${why}`,
      {
        help: 'fixed dims of a model cannot be changed, because its weights and constants may depend on them: export the model again with the requested size',
      },
    );
  if (before !== undefined && before.length !== given.length) throw reject(`its rank is ${before.length}`);
  return given.map((size, axis): Dim => {
    const dim = before?.[axis];
    if (typeof dim === 'number' && size !== dim) throw reject(`dim ${axis} is ${dim}`);
    if (typeof dim === 'string') {
      const known = named.get(dim);
      if (known !== undefined && known !== size) throw reject(`dim "${dim}" is already ${known}`);
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

/** Replaces dim names by their sizes in all value types. */
function writeNamed(graph: Graph, named: ReadonlyMap<string, PinnedDim>): void {
  for (const value of graph.values.values()) {
    if (value.type?.kind !== 'tensor' || value.type.dims?.some(dim => typeof dim === 'string' && named.has(dim)) !== true) continue;
    value.type = { ...value.type, dims: value.type.dims.map(dim => pinByName(dim, named)) };
  }
  for (const node of graph.nodes.values()) for (const sub of subgraphsOf(node)) writeNamed(sub, named);
}
