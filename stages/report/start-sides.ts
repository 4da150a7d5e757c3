/** Starts what the page says of detections and models in a thread, beside its charts: each takes about half of the time. */
import { callThread } from '../../src/stage/thread-call.js';
import type { DrawnSides, SidesJob } from './draw-sides.js';

/** Nothing starts where neither is connected. @throws as `drawSides`, and as `callThread`. */
export function startSides(job: SidesJob): Promise<DrawnSides> {
  const { detections, data, models } = job.inputs;
  if ([detections, data, models].every(input => input === undefined)) return Promise.resolve({ sections: [], answers: {} });
  return callThread(new URL('./sides-thread.js', import.meta.url), job);
}
