/**
 * Prints gates and the artifacts folder, at the end of every build and for a build with nothing to do.
 * It imports few modules, because a build with nothing to do may load only this.
 */
import { formatDuration } from '../../base/text/format.js';
import type { GateResult } from '../../engine/model/gate-result.js';
import type { SettledReport } from '../../engine/noop/no-op-record.js';
import type { Console } from '../terminal/console.js';
import { formatMetric } from './format-metric.js';

/** Prints what `printBuildReport` prints of a build in which every stage was up to date and every gate was met. */
export function printNothingToDo({ stages, gates }: SettledReport, durationMs: number, console: Pick<Console, 'line' | 'style'>): void {
  for (const line of formatGates(gates, console)) console.line(line);
  console.line(nothingToDo(stages, durationMs, console));
}

const NONE: ReadonlySet<string> = new Set();

/** Below an empty line, if there are any. @param outdated stages whose figures are marked. */
export function printGates(gates: readonly GateResult[], console: Console, outdated = NONE): void {
  if (gates.length > 0) console.line('');
  for (const line of formatGates(gates, console, outdated)) console.line(line);
}

function formatGates(gates: readonly GateResult[], console: Pick<Console, 'style'>, outdated = NONE): readonly string[] {
  return gates.flatMap(gate => [formatGate(gate, outdated, console), ...(gate.reasons ?? []).map(reason => `    ${reason}`)]);
}

export function artifactsLine(pipeline: string): string {
  return `artifacts are in ${pipeline === 'pipeline' ? 'artifacts' : `artifacts/${pipeline}`}/<stage>/`;
}

function formatGate({ stage, gate, value, verdict }: GateResult, outdated: ReadonlySet<string>, { style }: Pick<Console, 'style'>): string {
  const actual = value === undefined ? 'no such metric,' : formatMetric(value);
  const text = `gate ${stage}${outdated.has(stage) ? ' (outdated)' : ''}: ${gate.metric} ${gate.operator} ${gate.bound}: ${actual}`;
  return verdict === 'met'
    ? `${style('green', '✓')} ${text}`
    : `${style('red', '✗')} ${text} ${style('red', 'missed')} (${gate.span.file}:${gate.span.line}:${gate.span.column})`;
}

export function nothingToDo(stages: number, durationMs: number, { style }: Pick<Console, 'style'>): string {
  return style('green', `nothing to do: ${stages} stage${stages === 1 ? '' : 's'} up to date (${formatDuration(durationMs)})`);
}
