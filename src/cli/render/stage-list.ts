/** All stages of a round as a list that is drawn again while it runs: what ended, what runs and why, and what waits. */
import type { BuildEvent } from '../../engine/model/events.js';
import type { Outcome } from '../../engine/model/outcome.js';
import { cutWithMark, padEnd } from '../terminal/display-width.js';
import { formatElapsed } from './format-elapsed.js';

interface Row {
  state: 'waiting' | 'running' | 'ended' | 'failed';
  sinceMs: number;
  /** Why it runs, or its last progress. */
  text: string;
  /** The line of its end, as it is printed without a list. */
  line: string;
}

export interface StageList {
  /** @param line the line of the event for an output without a list; undefined if it has none. */
  update(event: BuildEvent, line: string | undefined, nowMs: number): void;
  /** At most `height` lines. */
  lines(height: number, nowMs: number): readonly string[];
  /** The lines of the stages that have ended, in the order of the list. */
  ended(): readonly string[];
}

/** @param idWidth columns of the names. */
export function makeStageList(idWidth: number): StageList {
  let rows = new Map<string, Row>();
  const at = (stage: string): Row => {
    const known = rows.get(stage) ?? { state: 'waiting', sinceMs: 0, text: '', line: '' };
    rows.set(stage, known);
    return known;
  };
  return {
    update(event, line, nowMs) {
      if (event.kind === 'outlook') rows = ofOutlook(event.outlook.tasks, rows);
      else if (event.kind === 'stage-started') Object.assign(at(event.stage), startedRow(event, nowMs));
      else if (event.kind === 'progress') at(event.stage).text = `${event.done} of ${event.total} ${event.what}`;
      else if (event.kind === 'retrying') at(event.stage).text = event.message.split('\n')[0] ?? '';
      else if (event.kind === 'run-outdated') Object.assign(at(event.stage), { state: 'waiting', text: '' } satisfies Partial<Row>);
      else if (event.kind === 'outcome') end(rows, event, line);
    },
    lines: (height, nowMs) => listRows([...rows], idWidth, Math.max(1, height), nowMs),
    ended: () => [...rows.values()].flatMap(({ line }) => (line === '' ? [] : [line])),
  };
}

/** Under a newer plan, stages keep what is known of them. */
function ofOutlook(tasks: readonly { readonly stage: string }[], before: ReadonlyMap<string, Row>): Map<string, Row> {
  const waiting = (): Row => ({ state: 'waiting', sinceMs: 0, text: '', line: '' });
  const running = [...before].filter(([, { state }]) => state === 'running');
  const rows = new Map(tasks.map(({ stage }): [string, Row] => [stage, before.get(stage) ?? waiting()]));
  for (const [stage, row] of running) if (!rows.has(stage)) rows.set(stage, row);
  return rows;
}

function startedRow({ reasons }: Extract<BuildEvent, { kind: 'stage-started' }>, nowMs: number): Omit<Row, 'line'> {
  return { state: 'running', sinceMs: nowMs, text: reasons[0] ?? 'no result yet' };
}

/** A stage that turned out to be up to date is not of interest. */
function end(
  rows: Map<string, Row>,
  { stage, outcome }: { readonly stage: string; readonly outcome: Outcome },
  line: string | undefined,
): void {
  if (outcome.kind === 'up-to-date' || line === undefined) rows.delete(stage);
  else rows.set(stage, { state: outcome.kind === 'failed' ? 'failed' : 'ended', sinceMs: 0, text: '', line });
}

/** Where the list is too long, stages that ended well and stages that wait become one line each. */
function listRows(rows: readonly (readonly [string, Row])[], idWidth: number, height: number, nowMs: number): readonly string[] {
  const lineOf = ([stage, row]: readonly [string, Row]): string => `  ${formatRow(stage, row, idWidth, nowMs)}`.trimEnd();
  if (rows.length <= height) return rows.map(lineOf);
  const ended = rows.filter(([, { state }]) => state === 'ended');
  const shown = rows.filter(([, { state }]) => state === 'failed' || state === 'running');
  const waiting = rows.filter(([, { state }]) => state === 'waiting');
  const head = ended.length === 0 ? [] : [`  ✓ ${ended.length} ended`];
  const room = height - head.length;
  const important = shown.slice(0, shown.length + waiting.length > room ? Math.max(1, room - 1) : room);
  const next = waiting.slice(0, Math.max(0, room - 1 - important.length));
  const left = shown.length - important.length + waiting.length - next.length;
  const tail = left === 0 ? [] : [`  … and ${left} more`];
  return [...head, ...important.map(lineOf), ...next.map(lineOf), ...tail].slice(0, height);
}

function formatRow(stage: string, { state, sinceMs, text, line }: Row, idWidth: number, nowMs: number): string {
  if (state === 'ended' || state === 'failed') return line;
  const name = padEnd(cutWithMark(stage, idWidth), idWidth);
  if (state === 'waiting') return `· ${name}  waits`;
  return `▸ ${name}  ${formatElapsed(nowMs - sinceMs)}  ${text}`;
}
