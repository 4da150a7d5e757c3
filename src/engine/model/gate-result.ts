/** The check of a metric against its gate. */
import { assertNever } from '../../base/assert-never.js';
import { type Figure, isFigure, rankOf } from '../../base/figure.js';
import type { JsonObject } from '../../base/json.js';
import { isJsonObject } from '../../base/json.js';
import type { Gate, StageId } from './plan.js';

export interface GateResult {
  readonly stage: StageId;
  readonly gate: Gate;
  /** undefined: the stage's metrics have no value of that name. */
  readonly value: Figure | undefined;
  readonly verdict: 'met' | 'missed';
}

/** A missing metric misses its gate. "equal" is above every bound. */
export function checkGate(stage: StageId, gate: Gate, metrics: JsonObject | undefined): GateResult {
  const value = findMetric(metrics, gate.metric);
  return { stage, gate, value, verdict: value !== undefined && holds(rankOf(value), gate) ? 'met' : 'missed' };
}

/** Returns the value at a dotted path. Keys that contain dots are found too. */
function findMetric(metrics: JsonObject | undefined, path: string): Figure | undefined {
  if (metrics === undefined) return undefined;
  const direct = metrics[path];
  if (isFigure(direct)) return direct;
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
