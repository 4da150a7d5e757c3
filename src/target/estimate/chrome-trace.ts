/** Estimated calls as a trace in the Trace Event Format, which Perfetto and chrome://tracing open. */
import type { JsonObject } from '../../base/json.js';
import type { CompileReport } from '../report/compile-report.js';
import { listLayers } from './layer-rows.js';

/** Rows of a model in the trace. */
const TRACKS = ['call', 'NPU: compute', 'NPU: memory', 'CPU'] as const;

type Track = (typeof TRACKS)[number];

interface Span {
  readonly track: Track;
  readonly name: string;
  readonly fromMs: number;
  readonly ms: number;
  readonly args: JsonObject;
}

/**
 * One process per model: its units one after the other, with what computes, what moves data, and what the CPU does. Within a unit, computing and moving begin
 * together. Models of a report without times per unit are left out.
 */
export function traceEstimates({ target, models }: Pick<CompileReport, 'target' | 'models'>): JsonObject {
  const events = models.flatMap((model, index) => {
    const spans = listSpans(model);
    return spans.length === 0 ? [] : [...nameTracks(`${model.name} (estimate)`, index + 1), ...spans.map(span => eventOf(span, index + 1))];
  });
  return {
    displayTimeUnit: 'ms',
    otherData: {
      what: 'an estimate, not a measurement',
      target: `${target.profile} ${target.device}, ${target.dtype}, software ${target.version}`,
    },
    traceEvents: events,
  };
}

function listSpans(model: CompileReport['models'][number]): readonly Span[] {
  const layers = listLayers(model);
  if (layers === undefined) return [];
  const spans: Span[] = [{ track: 'call', name: 'fixed time of a call', fromMs: 0, ms: layers.fixedMs, args: {} }];
  let at = layers.fixedMs;
  for (const [index, row] of layers.rows.entries()) {
    const { computeMs = 0, memoryMs = 0 } = model.units[index]?.estimate ?? {};
    const name = `${row.opType} ${row.name}`;
    const args = { macs: row.macs, bytes: row.bytes, ...(row.bound === undefined ? {} : { bound: row.bound }) };
    spans.push({ track: 'call', name, fromMs: at, ms: row.ms, args });
    if (row.device === 'cpu') spans.push({ track: 'CPU', name, fromMs: at, ms: row.ms, args });
    if (row.device === 'npu' && computeMs > 0) spans.push({ track: 'NPU: compute', name, fromMs: at, ms: computeMs, args });
    if (row.device === 'npu' && memoryMs > 0) spans.push({ track: 'NPU: memory', name, fromMs: at, ms: memoryMs, args });
    at += row.ms;
  }
  return spans;
}

function nameTracks(model: string, pid: number): readonly JsonObject[] {
  return [
    { ph: 'M', name: 'process_name', pid, tid: 0, args: { name: model } },
    ...TRACKS.flatMap((name, index) => [
      { ph: 'M', name: 'thread_name', pid, tid: index + 1, args: { name } },
      { ph: 'M', name: 'thread_sort_index', pid, tid: index + 1, args: { sort_index: index } },
    ]),
  ];
}

/** Times of the format are microseconds; nanoseconds are kept. */
function eventOf({ track, name, fromMs, ms, args }: Span, pid: number): JsonObject {
  const micros = (value: number): number => Number((1000 * value).toFixed(3));
  return { ph: 'X', cat: 'estimate', name, pid, tid: TRACKS.indexOf(track) + 1, ts: micros(fromMs), dur: micros(ms), args };
}
