/** Writes the record of an ended build to the history. */

import type { Session } from '../../action/session.js';
import { messageOf } from '../../model/engine-error.js';
import type { GateResult } from '../../model/gate-result.js';
import { concludeBuild, type EndedBuild } from '../../schedule/conclusion.js';
import { appendRun } from './history-file.js';
import type { RunRecorder } from './record-run.js';
import type { Asked } from './run-record.js';

/** Writes nothing if the build changed nothing. A failed write is a warning. Call only while holding the lock. */
export async function storeRun(
  { ports, cache }: Session,
  recorder: RunRecorder,
  ended: EndedBuild,
  gates: readonly GateResult[],
  asked: Asked,
): Promise<void> {
  const { plan, selected, ends } = ended;
  const conclusion = concludeBuild(ended, gates);
  const record = await recorder.finish({ plan, selected, ends, gates, conclusion, asked, remote: ended.remote?.summary });
  if (record === undefined) return;
  try {
    const path = cache.history(plan.pipeline);
    if (appendRun(path, record) !== undefined) return;
    const message = `${path} is of a newer version of Tanren: it is not changed, and this build is not recorded`;
    ports.emit({ kind: 'warning', stage: undefined, code: 'history-newer', message });
  } catch (error) {
    const message = `the history cannot be written: ${messageOf(error)}`;
    ports.emit({ kind: 'warning', stage: undefined, code: 'cache-write-failed', message });
  }
}
