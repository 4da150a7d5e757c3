/** Columns of outputs that are the angle of a rotated box: the network computes their sine or cosine, to rotate the box. */
import { findInts, getInt } from '../../../../onnx/ir/attribute.js';
import { getValue, indexUses, type Use } from '../../../../onnx/ir/edit.js';
import type { Graph, Model, Node, ValueId } from '../../../../onnx/ir/model.js';
import { OnnxError } from '../../../../onnx/ir/onnx-error.js';
import { inferShapes, type KnownTypes } from '../../../../onnx/shape-inference/infer-shapes.js';

export interface AngleColumn {
  readonly output: string;
  /** Counted from 0. */
  readonly column: number;
  readonly columns: number;
}

/** Columns of outputs [n, columns, rows] or [n, rows, columns], where `columns` is the smaller; also without the first dim. */
export function findAngleColumns(model: Model): readonly AngleColumn[] {
  const { graph } = model;
  if (![...graph.nodes.values()].some(({ opType }) => ROTATING.has(opType))) return [];
  const types = findTypes(model);
  if (types === undefined) return [];
  const traced: Traced = { graph, types, uses: indexUses(graph) };
  return graph.outputs.flatMap(id => {
    const axis = findColumnAxis(types.get(id)?.dims);
    const columns = axis === undefined ? undefined : sizeOf(traced, id, axis);
    if (axis === undefined || columns === undefined || columns > MOST_COLUMNS) return [];
    const output = getValue(graph, id).name;
    return Array.from({ length: columns }, (_, column) => ({ output, column, columns })).filter(({ column }) =>
      isAngle(traced, { value: id, axis, column }),
    );
  });
}

/** The start of a sentence. */
export function describeAngle({ output, column, columns }: AngleColumn): string {
  return `column ${column} (counted from 0) of the ${columns} of output "${output}" is an angle`;
}

const ROTATING: ReadonlySet<string> = new Set(['Sin', 'Cos']);
/** More classes than any detector of rotated boxes has. */
const MOST_COLUMNS = 2000;

interface Traced {
  readonly graph: Graph;
  readonly types: KnownTypes;
  readonly uses: ReadonlyMap<ValueId, readonly Use[]>;
}

interface Place {
  readonly value: ValueId;
  readonly axis: number;
  readonly column: number;
}

/** Undefined where declared shapes contradict the nodes: `import` reports that. */
function findTypes(model: Model): KnownTypes | undefined {
  try {
    return inferShapes(model);
  } catch (error) {
    if (error instanceof OnnxError) return undefined;
    throw error;
  }
}

function findColumnAxis(dims: readonly unknown[] | undefined): number | undefined {
  if (dims?.length !== 3 && dims?.length !== 2) return undefined;
  const [first, second] = dims.slice(-2);
  if (typeof second !== 'number') return typeof first === 'number' ? dims.length - 2 : undefined;
  return typeof first === 'number' && first < second ? dims.length - 2 : dims.length - 1;
}

function sizeOf({ types }: Traced, value: ValueId, axis: number): number | undefined {
  const size = types.get(value)?.dims?.[axis];
  return typeof size === 'number' ? size : undefined;
}

/** Follows a column to the nodes that compute it, as long as they only move data. */
function isAngle(traced: Traced, from: Place): boolean {
  for (let place: Place | undefined = from; place !== undefined; place = findSource(traced, place))
    if (sizeOf(traced, place.value, place.axis) === 1 && isRotatedBy(traced, place.value, MOST_MOVES)) return true;
  return false;
}

/** How many nodes may move the angle before its sine is computed. */
const MOST_MOVES = 4;
const MOVING: ReadonlySet<string> = new Set([
  'Identity',
  'Cast',
  'Transpose',
  'Reshape',
  'Squeeze',
  'Unsqueeze',
  'Flatten',
  'Expand',
  'Tile',
]);

function isRotatedBy(traced: Traced, value: ValueId, moves: number): boolean {
  return (traced.uses.get(value) ?? []).some(({ node, index }) => {
    if (ROTATING.has(node.opType)) return true;
    const [moved] = node.outputs;
    const isMoved = moves > 0 && index === 0 && MOVING.has(node.opType);
    return isMoved && moved !== undefined && isRotatedBy(traced, moved, moves - 1);
  });
}

/** Where the column is in the value that it is taken from; undefined where it is computed. */
function findSource(traced: Traced, { value, axis, column }: Place): Place | undefined {
  const producer = getValue(traced.graph, value).producer;
  const node = producer === undefined ? undefined : traced.graph.nodes.get(producer);
  const input = node?.inputs[0];
  const rank = traced.types.get(value)?.dims?.length;
  if (node === undefined || input === undefined || rank === undefined) return undefined;
  const at = getInt(node, 'axis', 0);
  const own = at < 0 ? at + rank : at;
  switch (node.opType) {
    case 'Identity':
    case 'Cast':
      return { value: input, axis, column };
    case 'Transpose':
      return { value: input, axis: findInts(node, 'perm')?.[axis] ?? rank - 1 - axis, column };
    case 'Concat':
      return own === axis ? findJoined(traced, node, { axis, column }) : undefined;
    case 'GatherElements':
      return own === axis ? undefined : { value: input, axis, column };
    case 'Split':
      return own === axis ? findSplit(traced, node, { value, axis, column }) : { value: input, axis, column };
    default:
      return undefined;
  }
}

function findJoined(traced: Traced, node: Node, { axis, column }: Omit<Place, 'value'>): Place | undefined {
  let before = 0;
  for (const value of node.inputs) {
    const size = value === undefined ? undefined : sizeOf(traced, value, axis);
    if (value === undefined || size === undefined) return undefined;
    if (column < before + size) return { value, axis, column: column - before };
    before += size;
  }
  return undefined;
}

function findSplit(traced: Traced, node: Node, { value, axis, column }: Place): Place | undefined {
  let before = 0;
  for (const output of node.outputs) {
    const [input] = node.inputs;
    if (output === value) return input === undefined ? undefined : { value: input, axis, column: before + column };
    const size = output === undefined ? undefined : sizeOf(traced, output, axis);
    if (size === undefined) return undefined;
    before += size;
  }
  return undefined;
}
