/** Which form has an operator in the operator set that a model imports? Where it has none, why. */
import { findClosest } from '../../base/did-you-mean.js';
import type { OperatorSchema } from './operator-schema.js';
import { schemasByDomain } from './parse-schemas.js';

export type FoundOperator =
  | { readonly kind: 'found'; readonly schema: OperatorSchema }
  /** The domain is not one that this library knows, or is open to operators that it does not know. */
  | { readonly kind: 'not-described' }
  | { readonly kind: 'unknown' }
  /** It comes with a later operator set. */
  | { readonly kind: 'too-new'; readonly since: number }
  | { readonly kind: 'deprecated'; readonly since: number };

/** ONNX Runtime's own domain has no specification, and previews come and go: other versions have other operators. */
const OPEN_DOMAINS: readonly string[] = ['com.microsoft', 'ai.onnx.preview', 'ai.onnx.preview.training'];

/** The operators that the ONNX domain had as experiments up to operator set 9: files name them still, and no document defines them. */
const EXPERIMENTS: readonly string[] = [
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

/** Under an operator set newer than the newest known one nothing is described: each operator may have changed. */
export function findOperator(domain: string, name: string, opset: number): FoundOperator {
  const known = schemasByDomain().get(domain);
  if (known === undefined || opset > known.newest) return { kind: 'not-described' };
  const versions = known.operators.get(name);
  if (versions === undefined) return describeAbsent(domain, name);
  const found = versions.findLast(({ since }) => since <= opset);
  if (found === undefined) return { kind: 'too-new', since: versions[0]?.since ?? 0 };
  return found.kind === 'deprecated' ? found : { kind: 'found', schema: found.schema() };
}

/** The operator of `domain` that `name` may be a slip of. */
export function findClosestOperator(domain: string, name: string): string | undefined {
  return findClosest(name, schemasByDomain().get(domain)?.operators.keys() ?? []);
}

/** The first version of an operator for which `holds`, whichever operator set is imported. */
export function findVersion(domain: string, name: string, holds: (schema: OperatorSchema) => boolean): OperatorSchema | undefined {
  for (const version of schemasByDomain().get(domain)?.operators.get(name) ?? []) {
    if (version.kind === 'deprecated') continue;
    const schema = version.schema();
    if (holds(schema)) return schema;
  }
  return undefined;
}

/** The newest operator set of `domain` that is known; undefined where the domain is not. */
export function findNewestOpset(domain: string): number | undefined {
  return schemasByDomain().get(domain)?.newest;
}

function describeAbsent(domain: string, name: string): FoundOperator {
  if (OPEN_DOMAINS.includes(domain) || (domain === '' && EXPERIMENTS.includes(name))) return { kind: 'not-described' };
  return { kind: 'unknown' };
}
