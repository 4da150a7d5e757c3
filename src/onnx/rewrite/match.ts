/** A match of a pattern, as a rewrite rule sees it. */
import type { Constant, Node, ValueId } from '../ir/model.js';
import type { Known } from '../shape-inference/context/node-context.js';

/** The smallest and the largest element on calibration samples. */
export interface SeenRange {
  readonly low: number;
  readonly high: number;
  /** The smallest element of each channel (axis 1), if it was kept. */
  readonly channelLows: Float32Array | undefined;
}

/** A place where a pattern matches: the root node, and the values and nodes that the pattern names. */
export interface Match {
  readonly node: Node;
  /** The ONNX opset of the model. */
  readonly opset: number;
  /** A node inside the pattern, by its name there. */
  inner(name: string): Node;
  value(name: string): ValueId;
  /** The value of an optional input. */
  find(name: string): ValueId | undefined;
  constant(name: string): Constant;
  findConstant(name: string): Constant | undefined;
  type(value: ValueId): Known;
  /** What a value was on the calibration samples, if the rewrite has their sketches and no rule before has changed values. */
  rangeOf(value: ValueId): SeenRange | undefined;
  /** The constant that a value equals; the pattern need not name it. */
  constantOf(value: ValueId | undefined): Constant | undefined;
  /** The producer of a value, if it is in the ONNX domain and, if `opType` is given, of that operator. */
  producerOf(value: ValueId | undefined, opType?: string): Node | undefined;
  /** Number of node inputs and graph outputs that read the value. */
  useCount(value: ValueId): number;
  /** The only reader of a value that is not an output of the graph. */
  soleReader(value: ValueId): Node | undefined;
  /** Whether the value is an input of the graph without a default. */
  isInput(value: ValueId): boolean;
  /** Whether an input of the graph has a free dim of this name. A size that a caller gives is at least 1; other dims may be 0. */
  isInputDim(name: string): boolean;
  /** Whether the value is an output of the graph. */
  isOutput(value: ValueId): boolean;
  /** An output of the root. */
  output(index?: number): ValueId;
  nameOf(value: ValueId): string;
}
