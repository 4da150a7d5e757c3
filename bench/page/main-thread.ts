/** The work of a tab's main thread, from the browser's trace: processor time, so that other load on the machine counts less. */
import type { Browser, Page } from 'playwright-core';

/** An event of the trace; times in microseconds. */
interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  readonly ts: number;
  readonly dur?: number;
  /** Processor time of the thread. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

export interface MainThread {
  /** Processor time per frame, in ms. */
  readonly frames: readonly number[];
  readonly totalMs: number;
  /** The task with most processor time. */
  readonly longestMs: number;
}

const CATEGORIES = ['toplevel', 'cc', '__metadata'];

const TASK = 'ThreadControllerImpl::RunTask';

/** Frames with less were asked for by nobody: the page did nothing in them. */
const LEAST_MS = 0.3;

const FRAME = 'ProxyMain::BeginMainFrame';

/** What the main thread of the tab does during `work`. */
export async function traceMainThread(browser: Browser, page: Page, work: () => Promise<void>): Promise<MainThread> {
  await browser.startTracing(page, { categories: CATEGORIES });
  await work();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as { readonly traceEvents: readonly TraceEvent[] };
  return readMainThread(traceEvents);
}

/** The busiest of the main threads: browser tabs of others do nothing here. */
function readMainThread(events: readonly TraceEvent[]): MainThread {
  const mains = events.filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain');
  const tasksOf = ({ pid, tid }: TraceEvent): readonly TraceEvent[] =>
    events.filter(one => one.pid === pid && one.tid === tid && one.ph === 'X' && one.name === TASK);
  const sumOf = (tasks: readonly TraceEvent[]): number => tasks.reduce((sum, { tdur = 0 }) => sum + tdur, 0) / 1000;
  const [main] = mains.toSorted((a, b) => sumOf(tasksOf(b)) - sumOf(tasksOf(a)));
  if (main === undefined) throw new Error('the trace has no main thread of a tab');
  const tasks = tasksOf(main);
  const starts = events.filter(({ name, pid }) => name === FRAME && pid === main.pid).map(({ ts }) => ts);
  const edges = [...starts].sort((a, b) => a - b);
  const frames = edges.slice(0, -1).map((start, index) => {
    const end = edges[index + 1] ?? start;
    return sumOf(tasks.filter(({ ts, dur = 0 }) => ts + dur > start && ts + dur <= end));
  });
  const longestMs = Math.max(0, ...tasks.map(task => sumOf([task])));
  return { frames: frames.filter(ms => ms >= LEAST_MS), totalMs: sumOf(tasks), longestMs };
}

/** The value that a share of the values does not exceed. */
export function quantileOf(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}
