/** Judges the detections of both sides in a worker: an evaluation takes seconds. */
import { type JudgeOrder, judgeResults } from './judge-results.js';

addEventListener('message', (event: MessageEvent<JudgeOrder>) => {
  try {
    postMessage(judgeResults(event.data));
  } catch (error) {
    postMessage({ problem: error instanceof Error ? error.message : String(error) });
  }
});
