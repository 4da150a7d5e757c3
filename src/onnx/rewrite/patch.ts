/** The result of a rewrite rule: new nodes and constants and the values that they replace, or a cut at an input or output of the model. */
import type { Attribute, Constant, Node, ValueId } from '../ir/model.js';

/** A value of the graph, or one that the patch creates. */
export type Ref = ValueId | NewOutput | NewConstant;

export interface NewOutput {
  readonly kind: 'output';
  readonly of: PatchNode;
  readonly index: number;
}

export interface NewConstant {
  readonly kind: 'constant';
  /** The requested name of the initializer; a number is appended if it is taken. */
  readonly name: string;
  readonly constant: Constant;
}

export interface PatchNode {
  readonly opType: string;
  /** A new node with the name of the match's root also gets the root's doc string and metadata. */
  readonly name: string;
  readonly inputs: readonly (Ref | undefined)[];
  readonly attributes: Readonly<Record<string, Attribute>> | ReadonlyMap<string, Attribute>;
}

export interface Patch {
  readonly kind: 'patch';
  /** In topological order. */
  readonly add: readonly PatchNode[];
  /** An old value that gets a new producer or becomes a constant keeps its name, dtype and shape. If another old value replaces it, its readers read that one. */
  readonly replace: readonly (readonly [ValueId, Ref])[];
  /** Nodes outside the match that are removed if nothing reads their outputs any more. */
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

/** Alternative to a patch: nodes at an input or output of the model are removed, and the host runs their operations. */
export interface EndCut {
  readonly kind: 'cut';
  readonly side: 'input' | 'output';
  /** The input or output of the model. */
  readonly end: ValueId;
  /** The value that replaces it and takes over its name. */
  readonly kept: ValueId;
  /** The nodes to remove, in order; nothing else reads their outputs. */
  readonly nodes: readonly Node[];
  readonly host: readonly HostStep[];
}

/** An operation that the host applies to a model output, or to a model input before the run. Operators have their ONNX semantics. */
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
