/** What the rules of operators see of a node on tiles: facts of its inputs, constants, and ways to state needs and to refuse. */
import { decodeRawTensor } from '../../tensor/raw-tensor.js';
import { getString } from '../ir/attribute.js';
import type { Constant, Graph, Node, ValueId } from '../ir/model.js';
import type { Pair, PitchNeed, TileFacts } from './tile-facts.js';

export interface NodeOnTiles {
  readonly node: Node;
  readonly graph: Graph;
  /** Facts of input `index`; undefined if it is absent or constant. */
  find(index: number): TileFacts | undefined;
  /** The constant of input `index`, also behind QuantizeLinear and DequantizeLinear. */
  constant(index: number): Constant | undefined;
  need(need: PitchNeed): void;
  /** Marks input `index`: the positions between its tiles are cleared before the node. Returns its facts after that. */
  clear(index: number): TileFacts;
}

/** Why a node cannot run on tiles. */
export class Refusal {
  readonly reason: string;
  constructor(reason: string) {
    this.reason = reason;
  }
}

export const refuse = (reason: string): Refusal => new Refusal(reason);

/** Facts of each output, or the reason why the node cannot run on tiles. */
export type TileRule = (on: NodeOnTiles, x: TileFacts) => readonly TileFacts[] | Refusal;

const AXES = [0, 1] as const;

/** A pair by axis. */
export const both = <T>(make: (axis: 0 | 1) => T): Pair<T> => [make(AXES[0]), make(AXES[1])];

const COPIES = new Set(['QuantizeLinear', 'DequantizeLinear', 'Identity']);

/** The constant behind a value, through nodes that copy or (de)quantize it. */
export function findConstantBehind(graph: Graph, id: ValueId | undefined): Constant | undefined {
  const value = id === undefined ? undefined : graph.values.get(id);
  if (value?.constant !== undefined) return value.constant;
  const producer = value?.producer === undefined ? undefined : graph.nodes.get(value.producer);
  return producer !== undefined && COPIES.has(producer.opType) ? findConstantBehind(graph, producer.inputs[0]) : undefined;
}

export function readConstant(constant: Constant | undefined): readonly number[] | undefined {
  if (constant === undefined || constant.dtype === 'string') return undefined;
  return Array.from(decodeRawTensor(constant).data as ArrayLike<number | bigint>, Number);
}

/** Whether pads are given as numbers. The pads of SAME_UPPER and SAME_LOWER depend on the size of the canvas. */
export function hasFixedPads(node: Node): boolean {
  return ['NOTSET', 'VALID'].includes(getString(node, 'auto_pad', 'NOTSET'));
}
