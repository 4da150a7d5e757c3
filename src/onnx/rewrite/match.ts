/** What does a rule see of the place where its pattern fits? */
import type { Constant, Node, ValueId } from '../ir/model.js';
import type { Known } from '../shape-inference/context/node-context.js';

/** Where a pattern fits: its root node, and the values and nodes that it names. */
export interface Match {
  readonly node: Node;
  /** The ONNX opset of the model. */
  readonly opset: number;
  /** A node inside the pattern, by its name there. */
  inner(name: string): Node;
  value(name: string): ValueId;
  /** Of an optional input. */
  find(name: string): ValueId | undefined;
  constant(name: string): Constant;
  findConstant(name: string): Constant | undefined;
  type(value: ValueId): Known;
  /** The constant that a value is, also where the pattern does not name it. */
  constantOf(value: ValueId | undefined): Constant | undefined;
  /** The node whose output a value is, where it is one of the ONNX domain and, if named, of that operator. */
  producerOf(value: ValueId | undefined, opType?: string): Node | undefined;
  /** How many node inputs and graph outputs read the value. */
  useCount(value: ValueId): number;
  /** The one reader of a value that only that node reads, and that is no output of the model. */
  soleReader(value: ValueId): Node | undefined;
  /** Is the value an input of the graph, which every caller gives? */
  isInput(value: ValueId): boolean;
  /** Is the value an output of the graph? */
  isOutput(value: ValueId): boolean;
  /** The root's output. */
  output(index?: number): ValueId;
  nameOf(value: ValueId): string;
}
