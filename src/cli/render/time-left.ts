/** Estimates the remaining time of a build from its events; gives no estimate if it is unknown. */

import { forecast } from '../../engine/insight/history/forecast.js';
import type { BuildEvent } from '../../engine/model/events.js';
import type { Outlook } from '../../engine/model/outlook.js';

export interface TimeLeft {
  update(event: BuildEvent, nowMs: number): void;
  /** "about 2 min left"; undefined if the time is unknown or too short to report. */
  describe(nowMs: number): string | undefined;
  /** The stages that may have to run, and how many of them have ended; undefined if that is unknown. */
  count(): StageCount | undefined;
}

export interface StageCount {
  readonly done: number;
  readonly total: number;
}

/** The live area is drawn more often than this. With ten thousand stages, the estimate takes a while. */
const REFRESH_MS = 500;

export function trackTimeLeft(): TimeLeft {
  let outlook: Outlook | undefined;
  let counted: ReadonlySet<string> = new Set();
  let done = 0;
  const ended = new Set<string>();
  const startedMs = new Map<string, number>();
  let shown: { readonly atMs: number; readonly text: string | undefined } = { atMs: Number.NEGATIVE_INFINITY, text: undefined };
  return {
    update(event, nowMs) {
      if (event.kind === 'outlook') {
        outlook = event.outlook;
        ended.clear();
        counted = new Set(event.outlook.tasks.map(({ stage }) => stage));
        done = 0;
      } else if (event.kind === 'stage-started') startedMs.set(event.stage, nowMs);
      else if (event.kind === 'run-outdated') startedMs.delete(event.stage);
      else if (event.kind === 'outcome') {
        startedMs.delete(event.stage);
        if (counted.has(event.stage) && !ended.has(event.stage)) done += 1;
        ended.add(event.stage);
      }
    },
    count: () => (outlook === undefined ? undefined : { done, total: counted.size }),
    describe(nowMs) {
      if (outlook === undefined) return undefined;
      if (nowMs - shown.atMs < REFRESH_MS) return shown.text;
      const elapsed = new Map([...startedMs].map(([stage, since]) => [stage, nowMs - since]));
      const leftMs = forecast(outlook, ended, elapsed);
      const about = leftMs === undefined ? undefined : describeAbout(leftMs);
      shown = { atMs: nowMs, text: about === undefined ? undefined : `about ${about} left` };
      return shown.text;
    },
  };
}

/** Shorter times are over before they are read. */
const SHORTEST_MS = 5_000;

/** Formats a time with the precision of the estimate: "25 s", "3 min", "2 h 10 min"; undefined for less than 5 s. */
export function describeAbout(durationMs: number): string | undefined {
  if (durationMs < SHORTEST_MS) return undefined;
  if (durationMs < 87_500) return `${5 * Math.round(durationMs / 5_000)} s`;
  const minutes = Math.round(durationMs / 60_000);
  if (minutes < 90) return `${minutes} min`;
  const tens = 10 * Math.round(minutes / 10);
  return tens % 60 === 0 ? `${tens / 60} h` : `${Math.floor(tens / 60)} h ${tens % 60} min`;
}
