/** The check of a metric against its gate. */
import { holdsBound } from '../../base/bound.js';
import { type Figure, findFigure, rankOf } from '../../base/figure.js';
import type { JsonObject } from '../../base/json.js';
import { isJsonObject } from '../../base/json.js';
import type { Gate, StageId } from './plan.js';

export interface GateResult {
  readonly stage: StageId;
  readonly gate: Gate;
  /** undefined: the stage's metrics have no value of that name. */
  readonly value: Figure | undefined;
  readonly verdict: 'met' | 'missed';
  /** Of a missed gate: what the stage states in its metrics as reasons for the value. */
  readonly reasons?: readonly string[];
}

/** A missing metric misses its gate. "equal" is above every bound. */
export function checkGate(stage: StageId, gate: Gate, metrics: JsonObject | undefined): GateResult {
  const value = findFigure(metrics, gate.metric);
  if (value !== undefined && holdsBound(rankOf(value), gate)) return { stage, gate, value, verdict: 'met' };
  const reasons = findReasons(metrics, gate.metric);
  return { stage, gate, value, verdict: 'missed', ...(reasons.length === 0 ? {} : { reasons }) };
}

const MOST_REASONS = 10;
const LONGEST_REASON = 1000;

/** One line without control characters, because it is shown on a terminal. */
function cleanReason(text: string): string {
  const line = text.slice(0, LONGEST_REASON).replaceAll(/\p{Cc}+/gu, ' ');
  return text.length > LONGEST_REASON ? `${line}…` : line;
}

/** Metrics may have the key `reasons`: dotted path of a metric → texts. Metrics of several ports have it below the name of the port. */
function findReasons(metrics: JsonObject | undefined, path: string): readonly string[] {
  const stated = isJsonObject(metrics?.reasons) ? metrics.reasons[path] : undefined;
  if (Array.isArray(stated)) return stated.slice(0, MOST_REASONS).flatMap(text => (typeof text === 'string' ? [cleanReason(text)] : []));
  const dot = path.indexOf('.');
  const inner = dot < 0 ? undefined : metrics?.[path.slice(0, dot)];
  return isJsonObject(inner) ? findReasons(inner, path.slice(dot + 1)) : [];
}
