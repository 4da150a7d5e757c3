/** Matches the detections of two sides in a worker: the files have megabytes. */
import { matchResults } from './match-results.js';
import type { MatchOrder } from './result-types.js';

addEventListener('message', (event: MessageEvent<MatchOrder>) => {
  try {
    postMessage(matchResults(event.data));
  } catch (error) {
    postMessage({ problem: error instanceof Error ? error.message : String(error) });
  }
});
