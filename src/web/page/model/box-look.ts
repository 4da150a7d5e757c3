/** How boxes of a model's graph are colored, and what their second line says. The words carry the meaning too. */
import type { ModelView, NodeView } from '../../../onnx/describe/model-view.js';
import { formatCount, formatDb, formatNumber } from '../../../report/numbers.js';
import type { ModelBox } from './collapse.js';
import type { ChangeKind } from './model-diff.js';
import type { NodeFacts, NodeUnit } from './node-facts.js';

export type ColorBy = 'operator' | 'device' | 'error' | 'time' | 'macs' | 'dtype' | 'change';

export interface BoxLook {
  readonly tone: string;
  readonly note: string;
}

export type LookOf = (box: ModelBox) => BoxLook;

const TONES: readonly (readonly [RegExp, string])[] = [
  [/Conv|Gemm|MatMul/, 'blue'],
  [/Quantize|Dequantize/, 'olive'],
  [/Relu|Sigmoid|Clip|Softmax|Tanh|Silu|Gelu|HardSwish/, 'orange'],
  [/Pool|Resize|Upsample/, 'teal'],
  [/Add|Mul|Sub|Div|Concat|Sum/, 'violet'],
  [/Norm/, 'green'],
];

/** @param changes of this side of a comparison, by node. */
export function makeLook(model: ModelView, color: ColorBy, facts: NodeFacts, changes: ReadonlyMap<string, ChangeKind> | undefined): LookOf {
  switch (color) {
    case 'device':
      return box => deviceLook(box, unitsOf(box, facts));
    case 'time':
      return box => timeLook(box, unitsOf(box, facts), facts.totalMs);
    case 'error':
      return box => errorLook(box, facts);
    case 'macs':
      return macsLook(model);
    case 'dtype':
      return box => dtypeLook(box, model);
    case 'change':
      return box => changeLook(box, changes ?? new Map());
    default:
      return box => ({ tone: operatorTone(box), note: sizeOf(box, model) });
  }
}

function sizeOf({ kind, nodes, hidden }: ModelBox, { values }: ModelView): string {
  if (kind === 'scope') return `${formatCount(nodes.length + hidden)} nodes`;
  const output = lastOutput(nodes);
  return output === undefined ? '' : (values[output]?.shape ?? '');
}

function lastOutput(nodes: readonly NodeView[]): string | undefined {
  return nodes.at(-1)?.outputs.find(name => name !== null) ?? undefined;
}

function operatorTone({ kind, nodes }: ModelBox): string {
  const op = kind === 'node' ? (nodes[0]?.op ?? '') : '';
  return TONES.find(([form]) => form.test(op))?.[1] ?? 'soft';
}

/** Each unit once: its nodes share its time. */
function unitsOf({ nodes }: ModelBox, { unitOf }: NodeFacts): readonly NodeUnit[] {
  return [...new Set(nodes.flatMap(({ outputs }) => unitOf?.get(outputs[0] ?? '') ?? []))];
}

function deviceLook(box: ModelBox, units: readonly NodeUnit[]): BoxLook {
  const devices = [...new Set(units.map(({ device }) => device))].sort();
  if (devices.length === 0) return { tone: 'soft', note: 'not in the report' };
  const tone = devices.includes('CPU') ? (devices.length > 1 ? 'orange' : 'red') : devices.includes('NPU') ? 'green' : 'teal';
  const onCpu = units.filter(({ device }) => device === 'CPU').length;
  return { tone, note: box.kind === 'scope' && onCpu > 0 ? `${onCpu} of ${units.length} units on the CPU` : devices.join(' and ') };
}

function timeLook(_: ModelBox, units: readonly NodeUnit[], totalMs = 0): BoxLook {
  const ms = units.reduce((sum, unit) => sum + (unit.ms ?? 0), 0);
  const share = totalMs > 0 ? ms / totalMs : 0;
  return { tone: toneOfShare(share), note: ms === 0 ? 'no time estimated' : `${formatNumber(ms)} ms estimated` };
}

function toneOfShare(share: number): string {
  return share > 0.1 ? 'red' : share > 0.02 ? 'orange' : share > 0 ? 'blue' : 'soft';
}

/** Decibels below which a value is colored as bad, and as doubtful. */
const [BAD_DB, DOUBTFUL_DB] = [15, 25];

function errorLook({ nodes }: ModelBox, { sqnrOf }: NodeFacts): BoxLook {
  const found = nodes.flatMap(({ outputs }) => outputs.flatMap(name => (name === null ? [] : (sqnrOf?.get(name) ?? []))));
  if (found.length === 0) return { tone: 'soft', note: 'no error known' };
  const worst = Math.min(...found);
  const tone = worst < BAD_DB ? 'red' : worst < DOUBTFUL_DB ? 'orange' : 'green';
  return { tone, note: worst === Number.POSITIVE_INFINITY ? 'equal' : `${formatDb(worst)} dB` };
}

/** Shares are of the MACs that are known. */
function macsLook(model: ModelView): LookOf {
  const sum = (nodes: readonly NodeView[]): number => nodes.reduce((total, { macs }) => total + (macs ?? 0), 0);
  const all = sum(model.nodes);
  return box => {
    const own = sum(box.nodes);
    const tone = toneOfShare(all > 0 ? own / all : 0);
    if (box.nodes.every(({ macs }) => macs !== null)) return { tone, note: own === 0 ? sizeOf(box, model) : `${formatCount(own)} MAC` };
    return { tone, note: own === 0 ? 'MACs unknown' : `at least ${formatCount(own)} MAC` };
  };
}

function dtypeLook({ kind, nodes }: ModelBox, { values }: ModelView): BoxLook {
  const output = lastOutput(nodes);
  const type = output === undefined ? undefined : values[output];
  const dtype = type?.dtype ?? '?';
  const tone = /int8/.test(dtype) ? 'green' : /int16|int32/.test(dtype) ? 'teal' : /float/.test(dtype) ? 'blue' : 'soft';
  return { tone, note: `${dtype} ${kind === 'scope' ? '' : (type?.shape ?? '')}` };
}

const CHANGE_TONES: Readonly<Record<ChangeKind, string>> = { added: 'green', removed: 'red', changed: 'violet' };

function changeLook({ nodes, kind }: ModelBox, changes: ReadonlyMap<string, ChangeKind>): BoxLook {
  const found = nodes.flatMap(({ id }) => changes.get(id) ?? []);
  const first = found[0];
  if (first === undefined) return { tone: 'soft', note: 'same' };
  const isOne = found.every(one => one === first);
  const note = kind === 'node' ? first : isOne ? `${found.length} ${first}` : `${found.length} differ`;
  return { tone: isOne ? CHANGE_TONES[first] : 'violet', note };
}
