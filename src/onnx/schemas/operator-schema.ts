/** What does an operator take, give and ask for, in one of its versions? Plain data: no shapes, no arithmetic. */
import type { AttributeValue } from '../ir/model.js';

/** How often a parameter may stand: once, once or not at all, or `least` times and more; of mixed types where it is 'any-types'. */
export type Occurrence =
  | { readonly kind: 'single' }
  | { readonly kind: 'optional' }
  | { readonly kind: 'variadic'; readonly least: number; readonly types: 'one-type' | 'any-types' };

export interface Parameter {
  readonly name: string;
  readonly occurs: Occurrence;
  /** Names of the types that it may have, as `typeName` makes them: "float32", "seq(float32)". */
  readonly types: ReadonlySet<string>;
  /** Parameters with the same variable have the same type; undefined where the type is a fixed one. */
  readonly variable: string | undefined;
}

export interface AttributeSchema {
  readonly kind: SchemaAttributeKind;
  readonly required: boolean;
}

/** `other` attributes are told apart by what is in them. */
export type SchemaAttributeKind = Exclude<AttributeValue['kind'], 'ref' | 'other'> | 'sparse-tensor' | 'sparse-tensors' | 'type' | 'types';

export interface OperatorSchema {
  readonly domain: string;
  readonly name: string;
  /** The operator set that it came with, or changed in. */
  readonly since: number;
  readonly inputs: readonly Parameter[];
  readonly outputs: readonly Parameter[];
  readonly attributes: ReadonlyMap<string, AttributeSchema>;
  readonly otherAttributes: 'taken' | 'refused';
}

/** The fewest and the most of `parameters` that a node can list; one left out before another counts as listed. */
export function countAllowed(parameters: readonly Parameter[]): { readonly least: number; readonly most: number } {
  let least = 0;
  let most = parameters.length;
  for (const [index, { occurs }] of parameters.entries()) {
    if (occurs.kind === 'single') least = index + 1;
    if (occurs.kind !== 'variadic') continue;
    least = Math.max(least, index + occurs.least);
    most = Number.POSITIVE_INFINITY;
  }
  return { least, most };
}

/** The parameter that stands at `index` of a node's list: the last one for all that follow, where it is variadic. */
export function parameterAt(parameters: readonly Parameter[], index: number): Parameter | undefined {
  const last = parameters.at(-1);
  return parameters[index] ?? (last?.occurs.kind === 'variadic' ? last : undefined);
}
