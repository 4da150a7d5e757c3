/** Checks the shifts of power-of-two units: bounds on the positions −log₂(scale). Outside of them the compiler changes a position, and with it the values. */
import { getFloat } from '../../onnx/ir/attribute.js';
import type { Node } from '../../onnx/ir/model.js';
import type { PositionLimits } from '../profile/profile.js';
import type { Finding } from '../report/finding.js';
import { findQParams } from '../units/unit-facts.js';
import { isPowerOfTwo } from './quantization-rules.js';
import { makeFinding, type UnitCase } from './unit-case.js';

/** Gives warnings only. Scales that are not a power of two are reported by the quantization rules. */
export function checkPositions(unitCase: UnitCase): readonly Finding[] {
  const { target, unit } = unitCase;
  const limits = target.dtype.positions;
  if (limits === undefined || unitCase.mode === 'float' || unit.kind !== 'quantized') return [];
  const at = (index: number): number | undefined => positionOf(unitCase, unit.dequantizers.get(index));
  const out = positionOf(unitCase, unit.quantizers[0]);
  const bounds = boundsOf(unitCase, limits, at, out);
  return [...bounds, ...alignment(unitCase, limits, out)].flatMap(bound => {
    if (bound.value >= bound.low && bound.value <= bound.high) return [];
    const measured = `${bound.what} = ${bound.value}`;
    const limit =
      bound.low === bound.high ? `${bound.low}` : bound.high === Infinity ? `at least ${bound.low}` : `${bound.low} to ${bound.high}`;
    const message = `${measured}; the target supports ${limit}`;
    return [makeFinding(target, { rule: bound.rule, severity: 'warning', measured, limit, message, source: limits.source })];
  });
}

interface Bound {
  readonly rule: string;
  readonly what: string;
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

function positionOf({ model }: UnitCase, node: Node | undefined): number | undefined {
  const scales = node === undefined ? undefined : findQParams(model, node)?.scales;
  const [scale] = scales ?? [];
  return scale !== undefined && scales?.length === 1 && isPowerOfTwo(scale) ? -Math.log2(scale) : undefined;
}

function boundsOf(
  { unit: { target: node, activation, dequantizers }, model }: UnitCase,
  limits: PositionLimits,
  at: (index: number) => number | undefined,
  out: number | undefined,
): readonly Bound[] {
  const { opType } = node;
  const [i, w, b] = [at(0), at(1), at(2)];
  if (i !== undefined && out !== undefined && opType === 'HardSigmoid') return hardSigmoidBounds(node, limits, i, out);
  if (i === undefined || w === undefined || out === undefined) return [];
  const least = Math.min(i, w);
  switch (opType) {
    case 'Conv':
    case 'ConvTranspose':
    case 'Gemm': {
      const cut = w + i - out;
      const [low, high] = limits.cut;
      const shift: Bound = { rule: 'shift-cut', what: 'position of weight + input − output', value: cut, low, high };
      if (b === undefined) return [shift];
      const biasLow = activation?.opType === 'LeakyRelu' ? 0 : Math.min(limits.bias[0], cut - high);
      return [
        shift,
        { rule: 'shift-bias', what: 'position of weight + input − bias', value: w + i - b, low: biasLow, high: limits.bias[1] },
      ];
    }
    case 'Add':
    case 'Sub': {
      const [low, high] = limits.addWrite;
      return [
        { rule: 'shift-read', what: 'difference of the positions of the inputs', value: Math.abs(i - w), low: 0, high: limits.read },
        { rule: 'shift-write', what: 'smallest position of the inputs − output', value: least - out, low, high },
      ];
    }
    case 'Mul': {
      const shift = { what: 'positions of the inputs − output', value: i + w - out };
      const bound = (rule: string, [low, high]: readonly [number, number]): Bound => ({ rule, ...shift, low, high });
      const isSwish = limits.swish !== undefined && readsGate(model, [...dequantizers.values()]);
      return [
        bound('shift-write', limits.mulWrite),
        ...(isSwish && limits.swish !== undefined ? [bound('shift-swish', limits.swish)] : []),
      ];
    }
    default:
      return [];
  }
}

/** The slope of a DPU is 2731/2^14. */
const SLOPE_POSITION = 14;

function hardSigmoidBounds(node: Node, { hardSigmoid }: PositionLimits, i: number, out: number): readonly Bound[] {
  if (hardSigmoid === undefined || !isDpuGate(node)) return [];
  const bound = (what: string, value: number, [low, high]: readonly [number, number]): Bound => ({
    rule: 'shift-hard-sigmoid',
    what,
    value,
    low,
    high,
  });
  return [
    bound('position of the input', i, hardSigmoid.input),
    bound('position of the output', out, [hardSigmoid.output, Number.POSITIVE_INFINITY]),
    bound('14 + position of input − output', SLOPE_POSITION + i - out, hardSigmoid.shift),
  ];
}

const TOLERANCE = 1e-5;

function isDpuGate(node: Node): boolean {
  const [alpha, beta] = [getFloat(node, 'alpha', 0.2), getFloat(node, 'beta', 0.5)];
  return node.opType === 'HardSigmoid' && Math.abs(alpha - 1 / 6) < TOLERANCE && Math.abs(beta - 0.5) < TOLERANCE;
}

/** Whether a HardSigmoid reads the integers of one of these DequantizeLinear nodes. */
function readsGate({ graph }: UnitCase['model'], dequantizers: readonly Node[]): boolean {
  const integers = new Set(dequantizers.map(({ inputs }) => inputs[0]));
  return [...graph.nodes.values()].some(node => {
    if (!isDpuGate(node) || node.inputs[0] === undefined) return false;
    const producer = graph.values.get(node.inputs[0])?.producer;
    return producer !== undefined && integers.has(graph.nodes.get(producer)?.inputs[0]);
  });
}

function alignment(unitCase: UnitCase, limits: PositionLimits, out: number | undefined): readonly Bound[] {
  const { unit } = unitCase;
  if (!limits.aligned.includes(unit.target.opType) || out === undefined) return [];
  const inputs = [...unit.dequantizers.values()].map(node => positionOf(unitCase, node)).filter(position => position !== undefined);
  const other = inputs.find(position => position !== out);
  if (other === undefined) return [];
  return [{ rule: 'position-aligned', what: 'position of an input − output', value: other - out, low: 0, high: 0 }];
}
