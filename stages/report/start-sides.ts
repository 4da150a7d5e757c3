/** Starts what the page holds of detections in a thread, beside its reports and models. */

import type { SavedAnswers } from '../../src/report/saved/saved-answers.js';
import { callThread } from '../../src/stage/thread-call.js';
import type { SidesJob } from './save-sides.js';

/** Nothing starts where none are connected. @throws as `saveSides`, and as `callThread`. */
export function startSides(job: SidesJob): Promise<SavedAnswers> {
  const { detections, data } = job.inputs;
  if (detections === undefined && data === undefined) return Promise.resolve({});
  return callThread(new URL('./sides-thread.js', import.meta.url), job);
}
