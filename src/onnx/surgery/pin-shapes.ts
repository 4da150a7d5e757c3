/** Assignment of fixed sizes to free dims of model inputs, given per input or by dim name. */
import { findOwn } from '../../base/find-own.js';
import { findClosest } from '../../base/text/did-you-mean.js';
import { getValue, subgraphsOf } from '../ir/edit.js';
import type { Dim, Graph, Model, Value, ValueId } from '../ir/model.js';
import { OnnxError } from '../ir/onnx-error.js';
import { formatDims } from '../shape-inference/context/node-context.js';
import { NAMELESS } from '../shape-inference/infer-shapes.js';

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
 * Writes sizes into the inputs of `model`, and into all types with a dim name that gets one size. A name that gets several sizes names no size: inputs that do not
 * get one of them have a name of their own afterwards, and other values an unknown dim. The caller infers shapes again.
 * Pins of unknown inputs and dim names are ignored here: see `assertPinsKnown`.
 * @returns the changed inputs.
 * @throws OnnxError `pin-mismatch` if a pin contradicts a fixed dim or the rank of the model, or `shapes` and `dims` contradict each other.
 */
export function pinShapes(model: Model, pins: Pins): readonly PinRecord[] {
  const { graph } = model;
  const inputs = graph.inputs.map(id => getValue(graph, id)).filter(value => value.constant === undefined);
  for (const input of inputs) assertGiven(input, pins);
  const sizes = findSizes(inputs, pins);
  const records: PinRecord[] = [];
  for (const input of inputs) {
    const before = dimsOf(input);
    const dims = pinInput(input, pins, sizes);
    if (dims === undefined || input.type?.kind !== 'tensor' || formatDims(dims) === formatDims(before)) continue;
    input.type = { ...input.type, dims };
    records.push({ input: input.name, before: formatDims(before), after: formatDims(dims) });
  }
  writeNamed(graph, sizes, new Set(graph.inputs));
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
    findOwn(shapes, name)?.[axis] === 'free' ||
    (typeof dim === 'string' && findOwn(dims, dim) === 'free') ||
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

/** What a dim name stands for: one size, a free dim, or several sizes, so that it says nothing about the places where it occurs. */
type Meaning = PinnedDim | 'several';

/** What `pins` make of each dim name. */
function findSizes(inputs: readonly Value[], pins: Pins): ReadonlyMap<string, Meaning> {
  const sizes = new Map<string, Meaning>();
  const add = (dim: Dim, size: Meaning): void => {
    if (typeof dim !== 'string') return;
    const known = sizes.get(dim);
    sizes.set(dim, dim === NAMELESS || (known !== undefined && known !== size) ? 'several' : size);
  };
  for (const input of inputs) {
    const given = findOwn(pins.shapes, input.name);
    for (const [axis, dim] of (dimsOf(input) ?? []).entries()) if (given?.[axis] !== undefined) add(dim, given[axis]);
    const batch = findBatch(input, pins);
    if (batch !== undefined) add(batch, isRepeated(input, batch) ? 'several' : pins.batch);
  }
  for (const [name, size] of Object.entries(pins.dims)) sizes.set(name, size);
  return sizes;
}

/** The first dim of an input of rank 4 if its name gets the size of `pins.batch`. */
function findBatch(input: Value, { shapes, dims, batch }: Pins): string | undefined {
  const [first] = hasBatch(input, shapes) ? (dimsOf(input) ?? []) : [];
  return typeof first === 'string' && findOwn(dims, first) === undefined && batch !== 'free' ? first : undefined;
}

const hasBatch = (input: Value, shapes: Pins['shapes']): boolean =>
  findOwn(shapes, input.name) === undefined && dimsOf(input)?.length === 4;

const isRepeated = (input: Value, name: string): boolean => (dimsOf(input) ?? []).filter(dim => dim === name).length > 1;

function pinInput(input: Value, pins: Pins, sizes: ReadonlyMap<string, Meaning>): readonly Dim[] | undefined {
  const before = dimsOf(input);
  const given = findOwn(pins.shapes, input.name);
  return (before ?? given)?.map((_, axis): Dim => {
    const dim = before?.[axis];
    const size = given?.[axis];
    if (typeof size === 'number') return size;
    if (axis === 0 && pins.batch !== 'free' && hasBatch(input, pins.shapes) && isOpen(dim, pins)) return pins.batch;
    const meaning = typeof dim === 'string' ? sizes.get(dim) : undefined;
    if (meaning === 'several' && dim !== NAMELESS) return `${input.name}_dim_${axis}`;
    return typeof meaning === 'number' ? meaning : dim;
  });
}

/** Whether `dim` has neither a size nor a decision by name. */
const isOpen = (dim: Dim, { dims }: Pins): boolean => dim === undefined || (typeof dim === 'string' && findOwn(dims, dim) === undefined);

function assertGiven(input: Value, { shapes, dims }: Pins): void {
  const given = findOwn(shapes, input.name);
  const before = dimsOf(input);
  if (given === undefined || before === undefined) return;
  const reject = (why: string): OnnxError =>
    new OnnxError(
      'pin-mismatch',
      `input "${input.name}" has shape ${formatDims(before)} in the model, ${formatDims(given)} is requested: ${why}`,
      {
        help: 'fixed dims of a model cannot be changed, because its weights and constants may depend on them: export the model again with the requested size',
      },
    );
  if (before.length !== given.length) throw reject(`its rank is ${before.length}`);
  for (const [axis, dim] of before.entries()) {
    if (typeof dim === 'number' && given[axis] !== dim) throw reject(`dim ${axis} is ${dim}`);
    const named = typeof dim === 'string' ? findOwn(dims, dim) : undefined;
    if (named !== undefined && named !== given[axis]) throw reject(`dim "${dim}" is already ${named}`);
  }
}

/** Replaces dim names by their sizes in all value types. */
function writeNamed(graph: Graph, sizes: ReadonlyMap<string, Meaning>, done: ReadonlySet<ValueId>): void {
  const nameOf = (dim: Dim): Dim => {
    const meaning = typeof dim === 'string' ? sizes.get(dim) : undefined;
    if (meaning === 'several') return undefined;
    return typeof meaning === 'number' ? meaning : dim;
  };
  for (const value of graph.values.values()) {
    if (done.has(value.id) || value.type?.kind !== 'tensor') continue;
    if (value.type.dims?.some(dim => nameOf(dim) !== dim) !== true) continue;
    value.type = { ...value.type, dims: value.type.dims.map(nameOf) };
  }
  for (const node of graph.nodes.values()) for (const sub of subgraphsOf(node)) writeNamed(sub, sizes, done);
}
