/** The schema of one version of an operator: its inputs, outputs and attributes. */
import type { AttributeValue } from '../ir/model.js';

/** How often a parameter may occur: once, at most once, or at least `least` times, with equal or ('any-types') mixed types. */
export type Occurrence =
  | { readonly kind: 'single' }
  | { readonly kind: 'optional' }
  | { readonly kind: 'variadic'; readonly least: number; readonly types: 'one-type' | 'any-types' };

export interface Parameter {
  readonly name: string;
  readonly occurs: Occurrence;
  /** Names of the allowed types in the form of `typeName`: "float32", "seq(float32)". */
  readonly types: ReadonlySet<string>;
  /** Parameters with the same type variable have the same type; undefined for a fixed type. */
  readonly variable: string | undefined;
}

export interface AttributeSchema {
  readonly kind: SchemaAttributeKind;
  readonly required: boolean;
}

/** The kinds of attributes in schemas; attributes of kind `other` are distinguished by their content. */
export type SchemaAttributeKind = Exclude<AttributeValue['kind'], 'ref' | 'other'> | 'sparse-tensor' | 'sparse-tensors' | 'type' | 'types';

export interface OperatorSchema {
  readonly domain: string;
  readonly name: string;
  /** The operator set that added or changed the operator. */
  readonly since: number;
  readonly inputs: readonly Parameter[];
  readonly outputs: readonly Parameter[];
  readonly attributes: ReadonlyMap<string, AttributeSchema>;
  /** Whether attributes that the schema does not list are allowed. */
  readonly otherAttributes: 'allowed' | 'rejected';
}

/** The minimum and maximum number of parameters that a node may have; an absent one before others counts. */
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

/** The parameter at `index`; a variadic last parameter covers all following indices. */
export function parameterAt(parameters: readonly Parameter[], index: number): Parameter | undefined {
  const last = parameters.at(-1);
  return parameters[index] ?? (last?.occurs.kind === 'variadic' ? last : undefined);
}
