/** Describes what a build did with its remote cache. */
import { countOf } from '../../base/text/count-of.js';
import { formatBytes, formatDuration } from '../../base/text/format.js';
import { listSome } from '../../base/text/list-some.js';
import type { RemoteSummary } from '../../engine/model/remote-summary.js';

/** No line for a build that did not need the cache. */
export function formatRemote(summary: RemoteSummary | undefined): readonly string[] {
  if (summary === undefined) return [];
  const { address, hits, misses, uploads, downloadedBytes, uploadedBytes, savedMs, dropped, troubles, leftOut } = summary;
  const hit = `${countOf(hits, 'hit')}${hits === 0 ? '' : ` (${formatBytes(downloadedBytes)} down, in place of runs that took ${formatDuration(savedMs)})`}`;
  const missed = misses === 1 ? '1 miss' : `${misses} misses`;
  const parts = [
    ...(hits + misses === 0 ? [] : [hit, missed]),
    ...(uploads === 0 ? [] : [`${countOf(uploads, 'result')} sent (${formatBytes(uploadedBytes)} up)`]),
    ...(troubles.length === 0 ? [] : [countOf(troubles.length, 'problem')]),
    ...(leftOut ? ['left out'] : []),
  ];
  const lines = parts.length === 0 ? [] : [`remote cache ${address}: ${parts.join(', ')}`];
  return dropped.length === 0 ? lines : [...lines, `not sent to the remote cache: the results of ${listSome(dropped)}`];
}
