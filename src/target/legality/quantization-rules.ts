/** Checks the quantization of units against the data type: integer types of activations, weights and biases, scales and zero points. */
import type { Node } from '../../onnx/ir/model.js';
import { findConstantValue } from '../../onnx/rewrite/graph-view.js';
import type { Sourced } from '../profile/profile.js';
import type { Finding } from '../report/finding.js';
import type { NodeUnit } from '../units/node-units.js';
import { findQParams, findQuantizedConstant, inputOf, type KnownQParams, outputOf } from '../units/unit-facts.js';
import { findForm } from './observed-forms.js';
import { severityOf } from './observed-operators.js';
import { makeFinding, type UnitCase } from './unit-case.js';

export function checkQuantization(unitCase: UnitCase): readonly Finding[] {
  if (unitCase.mode === 'float') return [];
  return [...rolesOf(unitCase).flatMap(role => checkRole(unitCase, role)), ...checkFloatWeights(unitCase)];
}

type Role = {
  readonly kind: 'activation' | 'weight' | 'bias';
  /** The Q or DQ node. */
  readonly node: Node;
  /** The name of the quantized value. */
  readonly name: string;
};

const WEIGHTED = new Set(['Conv', 'ConvTranspose', 'Gemm', 'MatMul']);

function rolesOf({ model, unit }: UnitCase): readonly Role[] {
  switch (unit.kind) {
    case 'quantized':
      return [
        ...[...unit.dequantizers].map(([index, node]) => ({
          kind: roleOf(unit, index, findQuantizedConstant(model, node) !== undefined),
          node,
          name: inputOf(model, node, 0)?.name ?? '',
        })),
        ...unit.quantizers.map(node => resultOf(model, node)),
      ];
    case 'quantize':
      return [resultOf(model, unit.target)];
    case 'dequantize':
      return [{ kind: 'activation', node: unit.target, name: inputOf(model, unit.target, 0)?.name ?? '' }];
    case 'requantize':
      return [
        { kind: 'activation', node: unit.target, name: inputOf(model, unit.target, 0)?.name ?? '' },
        ...unit.quantizers.map(node => resultOf(model, node)),
      ];
    case 'plain':
      return [];
  }
}

function roleOf({ target }: NodeUnit, index: number, constant: boolean): Role['kind'] {
  if (!constant || !WEIGHTED.has(target.opType)) return 'activation';
  return index === 2 ? 'bias' : 'weight';
}

function resultOf(model: UnitCase['model'], node: Node): Role {
  return { kind: 'activation', node, name: outputOf(model, node)?.name ?? '' };
}

function checkRole(unitCase: UnitCase, role: Role): readonly Finding[] {
  const qparams = findQParams(unitCase.model, role.node);
  if (qparams === undefined) {
    const measured = `scale or zero point of "${role.name}" is computed`;
    const { source } = unitCase.target.dtype.scale;
    return [
      makeFinding(unitCase.target, {
        rule: 'qparams-computed',
        measured,
        limit: 'constants',
        message: `${measured}, not constant`,
        source,
      }),
    ];
  }
  return [
    checkDType(unitCase, role, qparams),
    checkScale(unitCase, role, qparams),
    checkZeroPoint(unitCase, role, qparams),
    checkPerChannel(unitCase, role, qparams),
  ].filter(finding => finding !== undefined);
}

function checkDType({ target }: UnitCase, { kind, name }: Role, { dtype }: KnownQParams): Finding | undefined {
  const allowed: Sourced<readonly string[]> = {
    activation: target.dtype.activations,
    weight: target.dtype.weights,
    bias: target.dtype.biases,
  }[kind];
  if (dtype !== undefined && allowed.value.includes(dtype)) return undefined;
  return makeFinding(target, {
    rule: `${kind}-type`,
    measured: `${kind} "${name}" ${dtype}`,
    limit: allowed.value.join(' or '),
    message: `the ${kind} "${name}" is ${dtype}; ${target.identity.dtype} requires ${allowed.value.join(' or ')}`,
    source: allowed.source,
    note: allowed.note,
  });
}

function checkScale({ target }: UnitCase, { kind, name }: Role, { scales }: KnownQParams): Finding | undefined {
  const { scale } = target.dtype;
  if (scale.value === 'any') return undefined;
  const failing = scales.find(one => !isPowerOfTwo(one));
  if (failing === undefined) return undefined;
  const measured = `scale ${failing.toPrecision(6)} of ${kind} "${name}"`;
  const seen = kind === 'bias' ? undefined : findForm(target, `${kind}-scale`);
  const isWrong = seen !== undefined && severityOf(seen) === 'error';
  return makeFinding(target, {
    rule: 'scale-power-of-two',
    severity: isWrong ? 'error' : 'refused',
    measured,
    limit: 'a power of two',
    message: `the ${measured} is not a power of two`,
    source: isWrong ? seen.source : scale.source,
    note: isWrong ? `${seen.note} Quantize with preset xint8.` : 'Quantize with preset xint8.',
  });
}

/** Whether `scale` is 2ⁿ with n from −127 to 127. */
export function isPowerOfTwo(scale: number): boolean {
  return scale > 0 && Number.isInteger(Math.log2(scale)) && 2 ** Math.log2(scale) === scale;
}

function checkZeroPoint({ target }: UnitCase, { kind, name }: Role, { dtype, zeroPoints }: KnownQParams): Finding | undefined {
  const { zeroPoint } = target.dtype;
  const wanted = kind === 'activation' ? (zeroPoint.value === 'any' ? undefined : zeroPoint.value[dtype ?? '']) : 0;
  const failing = wanted === undefined ? undefined : zeroPoints.find(one => one !== wanted);
  if (failing === undefined) return undefined;
  const measured = `zero point ${failing} of ${kind} "${name}" (${dtype})`;
  return makeFinding(target, {
    rule: 'zero-point',
    measured,
    limit: `${wanted}`,
    message: `the ${measured}; ${target.identity.dtype} requires ${wanted}`,
    source: zeroPoint.source,
  });
}

function checkPerChannel({ target }: UnitCase, { kind, name }: Role, { axis, scales }: KnownQParams): Finding | undefined {
  const { perChannel } = target.dtype;
  if (axis === undefined || perChannel.value === 'allowed') return undefined;
  const measured = `${scales.length} scales along axis ${axis} of ${kind} "${name}"`;
  return makeFinding(target, {
    rule: 'per-channel',
    severity: perChannel.value,
    measured,
    limit: 'one scale per tensor',
    message: `it has ${measured}; ${perChannel.value === 'refused' ? 'the target supports' : 'the documentation lists'} one per tensor`,
    source: perChannel.source,
    note: perChannel.note,
  });
}

/** Float weights and biases: constants without a DQ. */
function checkFloatWeights({ target, model, unit }: UnitCase): readonly Finding[] {
  if (unit.kind !== 'quantized' || !WEIGHTED.has(unit.target.opType)) return [];
  return unit.target.inputs.flatMap((id, index) => {
    const constant = findConstantValue(model, id);
    if (constant?.dtype !== 'float32' || index === 0) return [];
    const measured = `${index === 2 ? 'bias' : 'weight'} "${inputOf(model, unit.target, index)?.name ?? ''}" float32`;
    const { source } = index === 2 ? target.dtype.biases : target.dtype.weights;
    return [
      makeFinding(target, { rule: 'weight-float', measured, limit: 'integers', message: `its ${measured} and not quantized`, source }),
    ];
  });
}
