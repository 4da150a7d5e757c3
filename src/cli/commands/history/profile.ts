/** `tanren profile`: summarizes where the time of a run went. With -o it writes the whole timeline for Perfetto. */
import { writeFileSync } from 'node:fs';
import { getRunIndex } from '../../../engine/insight/history/run-name.js';
import type { RunRecord } from '../../../engine/insight/history/run-record.js';
import { computeTiming } from '../../../engine/insight/history/timing.js';
import { makeTrace } from '../../../engine/insight/history/trace.js';
import { EngineError, messageOf } from '../../../engine/model/engine-error.js';
import { openHistory } from '../../pipeline/open-history.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { nameRun, summarizeRun } from '../../render/run-list.js';
import { formatTiming } from '../../render/timing-report.js';
import { makeConsole } from '../../terminal/console.js';
import { endWithError } from '../../terminal/end-with-error.js';

export interface ProfileOptions {
  readonly file: string;
  readonly output?: string;
  readonly json: boolean;
}

export async function runProfile(name: string, { file, output, json }: ProfileOptions): Promise<ExitCode> {
  const console = makeConsole({ json });
  try {
    const runs = openHistory(file, console);
    const run = runs[getRunIndex(runs, name)];
    if (run === undefined) return EXIT.usage;
    const timing = computeTiming(run);
    if (json) console.json({ run: run.run, started: run.started, durationMs: run.durationMs, ...timing });
    console.line(`${nameRun(run)}: ${summarizeRun(run)}`);
    for (const line of formatTiming(timing, console)) console.line(line);
    if (run.droppedSpans !== undefined) console.line(`${run.droppedSpans} spans of the timeline were dropped, because there were too many`);
    if (output !== undefined) writeTrace(output, run);
    console.line(
      output === undefined ? '-o trace.json writes the timeline, for ui.perfetto.dev' : `wrote ${output}: open it in ui.perfetto.dev`,
    );
    return EXIT.built;
  } catch (error) {
    return endWithError(error, console, { json }, EXIT.usage);
  }
}

function writeTrace(path: string, run: RunRecord): void {
  try {
    writeFileSync(path, `${JSON.stringify(makeTrace(run))}\n`);
  } catch (error) {
    throw new EngineError('not-writable', `${path} cannot be written: ${messageOf(error)}`, { cause: error });
  }
}
