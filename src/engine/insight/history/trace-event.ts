/**
 * The events of the Trace Event Format that the timeline of a build needs. Perfetto (ui.perfetto.dev) and chrome://tracing open it.
 * @see "Trace Event Format", Google: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsNchNAySU
 */

/** A row of the timeline: a thread of a process, in the terms of the format. */
export interface TraceRow {
  readonly pid: number;
  readonly tid: number;
}

/** A "complete" event: a start and a duration, in microseconds. Overlapping events of one thread are nested. */
export interface CompleteEvent extends TraceRow {
  readonly ph: 'X';
  readonly name: string;
  /** Categories, separated by commas. */
  readonly cat: string;
  readonly ts: number;
  readonly dur: number;
  readonly args: Readonly<Record<string, unknown>>;
}

/** An arrow from the complete event around `s` to the one around `f` (`bp: 'e'`: the enclosing one). */
export type FlowEvent = TraceRow & { readonly name: string; readonly cat: string; readonly id: number; readonly ts: number } & (
    | { readonly ph: 's' }
    | { readonly ph: 'f'; readonly bp: 'e' }
  );

/** The name and the position of a process or thread. */
export interface MetadataEvent extends TraceRow {
  readonly ph: 'M';
  readonly name: 'process_name' | 'process_sort_index' | 'thread_name';
  readonly args: Readonly<Record<string, string | number>>;
}

export type TraceEvent = CompleteEvent | FlowEvent | MetadataEvent;

export interface Trace {
  readonly traceEvents: readonly TraceEvent[];
  readonly displayTimeUnit: 'ms';
  readonly otherData: Readonly<Record<string, string>>;
}
