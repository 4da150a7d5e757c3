/** How long does a piece of a stage's way through the build take? Told as an event when it has ended, however it ended. */
import type { Span, SpanKind } from '../model/events.js';
import type { StageId } from '../model/plan.js';
import type { EnginePorts } from '../model/ports.js';

/** @param more what else is to be told of it, known when it has ended. */
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
