/** Lookup of the schema of an operator in a given operator set. */
import { findClosest } from '../../base/text/did-you-mean.js';
import type { OperatorSchema } from './operator-schema.js';
import { schemasByDomain } from './parse-schemas.js';

export type FoundOperator =
  | { readonly kind: 'found'; readonly schema: OperatorSchema }
  /** The domain is unknown, or it may contain operators that this library does not know. */
  | { readonly kind: 'not-described' }
  | { readonly kind: 'unknown' }
  /** The operator was added in a later operator set. */
  | { readonly kind: 'too-new'; readonly since: number }
  | { readonly kind: 'deprecated'; readonly since: number };

/** Domains whose set of operators depends on the version of ONNX Runtime or ONNX. */
const OPEN_DOMAINS: readonly string[] = ['com.microsoft', 'ai.onnx.preview', 'ai.onnx.preview.training'];

/** Experimental operators of the ONNX domain up to operator set 9. Files still use them, but they have no specification. */
const EXPERIMENTAL: readonly string[] = [
  'ATen',
  'Affine',
  'ConstantFill',
  'Crop',
  'DynamicSlice',
  'GRUUnit',
  'GivenTensorFill',
  'ImageScaler',
  'ParametricSoftplus',
  'Scale',
  'ScaledTanh',
];

/** In operator sets newer than the newest known one, no operator is described, because each may have changed. */
export function findOperator(domain: string, name: string, opset: number): FoundOperator {
  const known = schemasByDomain().get(domain);
  if (known === undefined || opset > known.newest) return { kind: 'not-described' };
  const versions = known.operators.get(name);
  if (versions === undefined) return describeAbsent(domain, name);
  const found = versions.findLast(({ since }) => since <= opset);
  if (found === undefined) return { kind: 'too-new', since: versions[0]?.since ?? 0 };
  return found.kind === 'deprecated' ? found : { kind: 'found', schema: found.schema() };
}

/** The operator of `domain` with the name most similar to `name`. */
export function findClosestOperator(domain: string, name: string): string | undefined {
  return findClosest(name, schemasByDomain().get(domain)?.operators.keys() ?? []);
}

/** The first version of an operator whose schema satisfies `holds`, in any operator set. */
export function findVersion(domain: string, name: string, holds: (schema: OperatorSchema) => boolean): OperatorSchema | undefined {
  for (const version of schemasByDomain().get(domain)?.operators.get(name) ?? []) {
    if (version.kind === 'deprecated') continue;
    const schema = version.schema();
    if (holds(schema)) return schema;
  }
  return undefined;
}

/** The newest known operator set of `domain`; undefined for an unknown domain. */
export function findNewestOpset(domain: string): number | undefined {
  return schemasByDomain().get(domain)?.newest;
}

function describeAbsent(domain: string, name: string): FoundOperator {
  if (OPEN_DOMAINS.includes(domain) || (domain === '' && EXPERIMENTAL.includes(name))) return { kind: 'not-described' };
  return { kind: 'unknown' };
}
