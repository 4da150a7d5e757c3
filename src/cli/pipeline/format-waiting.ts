/** Formats the message printed while another process uses the cache: which process, and since when. */
import { formatDuration } from '../../base/text/format.js';
import type { BuildEvent } from '../../engine/model/events.js';

export function formatWaiting({ folder, holder }: Extract<BuildEvent, { kind: 'waiting-for-lock' }>, nowMs: number): string {
  if (holder === undefined) return `waiting for another build that uses ${folder}`;
  const { command, pid, user, host, sinceMs } = holder;
  const since = `${new Date(sinceMs).toISOString().slice(0, 19)}Z`;
  return `waiting for "${command}" (process ${pid} of ${user} on ${host}), which has used ${folder} since ${since}, for ${formatDuration(Math.max(0, nowMs - sinceMs))}`;
}
