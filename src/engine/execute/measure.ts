/** Measurement of spans of a stage's work. Each span is emitted as an event when it ends, whether or not the work succeeded. */
import type { Span, SpanKind } from '../model/events.js';
import type { StageId } from '../model/plan.js';
import type { EnginePorts } from '../model/ports.js';

/** @param more supplies further fields of the span, which are known when the work has ended. */
export async function measure<T>(
  { emit }: Pick<EnginePorts, 'emit'>,
  stage: StageId,
  what: SpanKind,
  work: () => Promise<T>,
  more: () => Pick<Span, 'peakBytes'> = () => ({}),
): Promise<T> {
  const startMs = performance.now();
  try {
    return await work();
  } finally {
    emit({ kind: 'span', stage, what, startMs, endMs: performance.now(), ...more() });
  }
}
