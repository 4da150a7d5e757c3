/** The rows of a timeline, and the events in them. */
import type { CompleteEvent, MetadataEvent, TraceEvent, TraceRow } from './trace-event.js';

/** Groups of rows in display order, with their titles. */
const GROUPS = {
  build: { pid: 1, title: 'build', row: 'build' },
  slots: { pid: 2, title: 'stages in slots', row: 'slot' },
  parts: { pid: 3, title: 'parts of stages, worked on at once', row: 'parts' },
  waiting: { pid: 4, title: 'waiting for a slot', row: 'waiting' },
  looking: { pid: 5, title: 'preparing: digests of inputs, restores', row: 'looking' },
} as const;

export type RowGroup = keyof typeof GROUPS;

/** @param lane the row in the group, counted from 0. */
export function rowAt(group: RowGroup, lane: number): TraceRow {
  return { pid: GROUPS[group].pid, tid: lane + 1 };
}

export function makeComplete(
  row: TraceRow,
  atMs: number,
  durationMs: number,
  event: Pick<CompleteEvent, 'name' | 'cat' | 'args'>,
): CompleteEvent {
  const ts = Math.round(atMs * 1000);
  return { ph: 'X', ...event, ...row, ts, dur: Math.round((atMs + durationMs) * 1000) - ts };
}

/** The titles of the rows that contain `events`. */
export function nameRows(events: readonly TraceEvent[]): readonly MetadataEvent[] {
  const named: MetadataEvent[] = [];
  for (const { pid, title, row } of Object.values(GROUPS)) {
    const tids = [...new Set(events.filter(event => event.pid === pid).map(event => event.tid))].sort((a, b) => a - b);
    if (tids.length === 0) continue;
    named.push({ ph: 'M', name: 'process_name', pid, tid: 0, args: { name: title } });
    named.push({ ph: 'M', name: 'process_sort_index', pid, tid: 0, args: { sort_index: pid } });
    for (const tid of tids) named.push({ ph: 'M', name: 'thread_name', pid, tid, args: { name: `${row} ${tid}` } });
  }
  return named;
}
