/** Does a metric meet its bound? */
import { assertNever } from '../../base/assert-never.js';
import type { JsonObject } from '../../base/json.js';
import { isJsonObject } from '../../base/json.js';
import type { Gate, StageId } from './plan.js';

export interface GateResult {
  readonly stage: StageId;
  readonly gate: Gate;
  /** undefined: the stage's metrics have no number of that name. */
  readonly value: number | undefined;
  readonly verdict: 'met' | 'missed';
}

/** A metric that is absent, or not a finite number, misses its gate. */
export function checkGate(stage: StageId, gate: Gate, metrics: JsonObject | undefined): GateResult {
  const value = findMetric(metrics, gate.metric);
  return { stage, gate, value, verdict: value !== undefined && holds(value, gate) ? 'met' : 'missed' };
}

/** The number at a dotted path; names with dots in them are found too. */
export function findMetric(metrics: JsonObject | undefined, path: string): number | undefined {
  if (metrics === undefined) return undefined;
  const direct = metrics[path];
  if (typeof direct === 'number') return direct;
  for (let dot = path.indexOf('.'); dot >= 0; dot = path.indexOf('.', dot + 1)) {
    const inner = metrics[path.slice(0, dot)];
    const found = isJsonObject(inner) ? findMetric(inner, path.slice(dot + 1)) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function holds(value: number, { operator, bound }: Gate): boolean {
  switch (operator) {
    case '>=':
      return value >= bound;
    case '<=':
      return value <= bound;
    case '>':
      return value > bound;
    case '<':
      return value < bound;
    case '==':
      return value === bound;
    default:
      return assertNever(operator);
  }
}
