/** Opens the run history of a pipeline by the file's name alone, so that a pipeline file with errors still has its history. */
import { join, resolve } from 'node:path';
import { pipelineNameOf } from '../../engine/config/pipeline-name.js';
import { findProjectFolder } from '../../engine/config/project-folder.js';
import { loadHistory } from '../../engine/insight/history/history-file.js';
import type { RunRecord } from '../../engine/insight/history/run-record.js';
import { cacheFolderAt } from '../../engine/store/cache-folder.js';
import type { Console } from '../terminal/console.js';

/** The runs, oldest first. Damaged lines are reported as a warning. */
export function openHistory(file: string, console: Console): readonly RunRecord[] {
  const log = historyOf(file);
  const { runs, damagedLines } = loadHistory(log);
  const code = 'history-damaged';
  if (damagedLines > 0)
    console.problem('warning', `warning[${code}]: ${damagedLines} lines of ${log} are damaged or of another version, and are ignored`);
  return runs;
}

/** The runs that can be read, oldest first. */
export function listRuns(file: string): readonly RunRecord[] {
  return loadHistory(historyOf(file)).runs;
}

function historyOf(file: string): string {
  const path = resolve(file);
  return cacheFolderAt(join(findProjectFolder(path), 'cache')).history(pipelineNameOf(path));
}
