/** The parameters of constants: as weights, or in the role of activations. */
import { getDefined } from '../../base/invariant.js';
import { getValue } from '../../onnx/ir/edit.js';
import type { ValueId } from '../../onnx/ir/model.js';
import type { QParams } from '../integers/qparams.js';
import { type IntegerScheme, saturationRange } from '../integers/quantized-dtype.js';
import { chooseQParams } from '../range/range.js';
import { isWeightMethod } from '../range/weight-range.js';
import { isFixedRange } from '../scheme/tensor-settings.js';
import { computeWeightQParams } from '../weights/weights.js';
import { centeredAt, type Draft, findFloatConstant, integersOf, type PendingWeight, settingsOf, type WeightParameters } from './draft.js';

/** Before a bias widens them; computed once. @throws QuantError `bad-range` if the constant is not finite. */
export function weightParameters(draft: Draft, value: ValueId, pending: PendingWeight): WeightParameters {
  const known = draft.parameters.get(value);
  if (known !== undefined) return known;
  const parameters = chooseParameters(draft, value, pending);
  draft.parameters.set(value, parameters);
  return parameters;
}

function chooseParameters(draft: Draft, value: ValueId, { role, axis }: PendingWeight): WeightParameters {
  const { integers: own, perChannel, range, qparams } = settingsOf(draft, value);
  const { weight } = draft.scheme;
  // Constants in the role of an activation use reduceRange like weights: products of both saturate in the same way.
  const scheme: IntegerScheme =
    role === 'weight' ? { ...weight, ...own } : { ...integersOf(draft, value), reduceRange: own.reduceRange ?? weight.reduceRange };
  const limits = saturationRange(scheme);
  const inAll = (slice: QParams): WeightParameters => ({
    limits,
    qparams: { dtype: scheme.dtype, axis: undefined, slices: [slice] },
    method: 'set',
  });
  const position = draft.positions?.tensors.get(value);
  if (qparams !== undefined) return inAll(qparams);
  if (range !== undefined && isFixedRange(range)) return inAll(chooseQParams({ kind: 'known', range }, weight.range, scheme).qparams);
  const method = range !== undefined && isWeightMethod(range) ? range : weight.range;
  if (position !== undefined) return { ...inAll(centeredAt(position, scheme)), method };
  const perSlice = role === 'weight' && (perChannel ?? weight.perChannel);
  const request = { scheme, method, axis: perSlice ? axis : undefined, name: getValue(draft.graph, value).name };
  return { qparams: computeWeightQParams(getDefined(findFloatConstant(draft.graph, value), `constant ${value}`), request), method, limits };
}
