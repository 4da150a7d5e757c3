/** Random small graphs whose values have ranges of very different sizes, so that the shifts of power-of-two arithmetic leave their bounds. */
import { float, int } from '../../src/onnx/ir/attribute.js';
import type { Model, ValueId } from '../../src/onnx/ir/model.js';
import type { PositionLimits } from '../../src/quant/positions/problem/position-limits.js';
import type { Observation } from '../../src/quant/range/range-method.js';
import { chooseTarget, getBuiltInProfile } from '../../src/target/profile/choose-target.js';
import { smallGraph } from '../unit/quant/small-graph.js';

/** Bounds of the built-in profile. */
export function dpuLimits(): PositionLimits {
  const { positions } = chooseTarget(getBuiltInProfile('ryzen-ai'), { dtype: 'xint8' }).dtype;
  if (positions === undefined) throw new Error('xint8 has bounds on positions');
  return positions;
}

/** Numbers in [0, 1), the same for a seed on every machine (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const KINDS = ['conv', 'relu', 'leaky', 'gemm', 'add', 'sub', 'mul', 'concat', 'pool', 'average', 'global', 'swish', 'again'] as const;

export interface PositionGraph {
  readonly model: Model;
  readonly observations: ReadonlyMap<ValueId, Observation>;
}

/** `nodes` operators; their values have magnitudes of 2^−spread … 2^spread. */
export function positionGraph(seed: number, { nodes = 10, spread = 12 } = {}): PositionGraph {
  const random = seeded(seed);
  const small = smallGraph();
  const magnitude = (): number => 2 ** (spread * (2 * random() - 1));
  const floats = (name: string, count: number, dims: readonly number[]): void => {
    const size = magnitude();
    small.floats(
      name,
      dims,
      Array.from({ length: count }, () => size * (2 * random() - 1)),
    );
  };
  small.input('x', [1, 2, 4, 4]);
  small.input('z', [1, 2, 4, 4]);
  const values = ['x', 'z'];
  const weights: string[] = [];
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const layer = (opType: string, out: string, weight: string): void => {
    floats(`${out}_bias`, 2, [2]);
    small.node(`${opType} ${pick(values)} ${weight} ${out}_bias -> ${out}`);
  };
  const newWeight = (out: string, dims: readonly number[]): string => {
    floats(`${out}_weight`, 4, dims);
    weights.push(`${out}_weight`);
    return `${out}_weight`;
  };
  for (let i = 0; i < nodes; i++) {
    const out = `v${i}`;
    const kind = pick(KINDS);
    const [a, b] = [pick(values), pick(values)];
    if (kind === 'conv') layer('Conv', out, newWeight(out, [2, 2, 1, 1]));
    else if (kind === 'again' && weights.length > 0) layer('Conv', out, pick(weights));
    else if (kind === 'gemm') layer('Gemm', out, newWeight(out, [2, 2]));
    else if (kind === 'relu' || kind === 'leaky') {
      layer('Conv', `${out}_in`, newWeight(out, [2, 2, 1, 1]));
      small.node(`${kind === 'relu' ? 'Relu' : 'LeakyRelu'} ${out}_in -> ${out}`);
    } else if (kind === 'sub') small.node(`Sub ${a} ${b} -> ${out}`);
    else if (kind === 'mul') small.node(`Mul ${a} ${b} -> ${out}`);
    else if (kind === 'concat') small.node(`Concat ${a} ${b} ${pick(values)} -> ${out}`, { axis: int(1) });
    else if (kind === 'pool') small.node(`MaxPool ${a} -> ${out}`);
    else if (kind === 'average') small.node(`AveragePool ${a} -> ${out}`);
    else if (kind === 'global') small.node(`GlobalAveragePool ${a} -> ${out}`);
    else if (kind === 'swish') {
      small.node(`HardSigmoid ${a} -> ${out}_gate`, { alpha: float(1 / 6), beta: float(0.5) });
      small.node(`Mul ${a} ${out}_gate -> ${out}`);
    } else small.node(`Add ${a} ${b} -> ${out}`);
    values.push(out);
  }
  const read = new Set([...small.model.graph.nodes.values()].flatMap(node => node.inputs));
  const ends = [...small.model.graph.values.values()].filter(({ id, producer }) => producer !== undefined && !read.has(id));
  small.output(...ends.map(({ name }) => name));
  const activations = [...small.model.graph.values.values()].filter(value => value.constant === undefined);
  const observations = new Map(
    activations.map(({ id }): [ValueId, Observation] => {
      const size = magnitude();
      return [id, { kind: 'known', range: { low: Math.fround(-size * random()), high: Math.fround(size) } }];
    }),
  );
  return { model: small.model, observations };
}
