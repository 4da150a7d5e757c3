/** What may a rule ask for? New nodes and constants, and which old values they take the place of. */
import type { Attribute, Constant, Node, ValueId } from '../ir/model.js';

/** A value of the graph, or one that the patch makes. */
export type Ref = ValueId | NewOutput | NewConstant;

export interface NewOutput {
  readonly kind: 'output';
  readonly of: PatchNode;
  readonly index: number;
}

export interface NewConstant {
  readonly kind: 'constant';
  /** The wanted name of the initializer; a number is added where it is taken. */
  readonly name: string;
  readonly constant: Constant;
}

export interface PatchNode {
  readonly opType: string;
  /** A node that takes over its predecessor's name takes over its doc string and metadata too. */
  readonly name: string;
  readonly inputs: readonly (Ref | undefined)[];
  readonly attributes: Readonly<Record<string, Attribute>> | ReadonlyMap<string, Attribute>;
}

export interface Patch {
  readonly kind: 'patch';
  /** In topological order. */
  readonly add: readonly PatchNode[];
  /** Each old value keeps its name, dtype and shape where it gets a new producer or becomes a constant; where it is replaced by another old value, its readers read that one. */
  readonly replace: readonly (readonly [ValueId, Ref])[];
  /** Nodes beyond the match that go where nothing reads their outputs any more. */
  readonly also: readonly Node[];
}

export function newNode(
  opType: string,
  options: {
    name?: string;
    inputs: readonly (Ref | undefined)[];
    attributes?: Readonly<Record<string, Attribute>> | ReadonlyMap<string, Attribute>;
  },
): PatchNode {
  return { opType, name: options.name ?? '', inputs: options.inputs, attributes: options.attributes ?? {} };
}

export function outputOf(node: PatchNode, index = 0): NewOutput {
  return { kind: 'output', of: node, index };
}

export function newConstant(name: string, constant: Constant): NewConstant {
  return { kind: 'constant', name, constant };
}

export function patch(options: { add?: readonly PatchNode[]; replace: Patch['replace']; also?: readonly Node[] }): Patch {
  return { kind: 'patch', add: options.add ?? [], replace: options.replace, also: options.also ?? [] };
}

/** Instead of a patch: nodes at an end of the model go, and the host does what they did. */
export interface EndCut {
  readonly kind: 'cut';
  readonly side: 'input' | 'output';
  /** The input or output of the model. */
  readonly end: ValueId;
  /** The value that takes its place and its name. */
  readonly kept: ValueId;
  /** What goes, in order; nothing else reads what it makes. */
  readonly nodes: readonly Node[];
  readonly host: readonly HostStep[];
}

/** What the host does, in order: with the output as it comes, or with the input before it is given. Operators mean what ONNX means by them. */
export type HostStep =
  | { readonly op: 'Transpose'; readonly perm: readonly number[] }
  | { readonly op: 'Reshape'; readonly shape: readonly number[] }
  | { readonly op: 'Cast'; readonly to: string }
  | {
      readonly op: 'Mul' | 'Div' | 'Add' | 'Sub';
      readonly order: 'input-first' | 'constant-first';
      readonly constant: readonly number[];
      readonly dims: readonly number[];
    };

export function cutEnd(cut: Omit<EndCut, 'kind'>): EndCut {
  return { kind: 'cut', ...cut };
}
