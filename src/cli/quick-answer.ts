/** Answers a build with nothing to do: if the no-op record still holds, the answer is printed before other modules are loaded. */
import { fstatSync } from 'node:fs';
import type { Digest } from '../base/digest.js';
import { pipelineNameOf } from '../engine/config/pipeline-name.js';
import { findProjectFolder } from '../engine/config/project-folder.js';
import { isCurrent } from '../engine/noop/check-no-op-record.js';
import { type NoOpRecord, noOpRecordPath, readNoOpRecord } from '../engine/noop/no-op-record.js';
import { platformGuard } from '../runtime/platform/platform-guard.js';
import { readBuildRequest, requestText } from './pipeline/build-request.js';
import { lookWithoutOptimizing } from './process/interpret-only.js';
import { watchOutput } from './process/lost-output.js';
import { writeNow } from './process/write-now.js';
import { printNothingToDo } from './render/settled-report.js';
import type { OutputStream } from './terminal/batched-output.js';
import { makeStyle } from './terminal/style.js';

/**
 * Answers `tanren build …` if there is nothing to do.
 * @returns 'load': nothing was done, and the command line must be loaded; 'answered'; 'written': answered, and no stream holds any of it.
 */
export function answerQuickly(argv: readonly string[]): 'load' | 'answered' | 'written' {
  const started = process.hrtime.bigint();
  const record = findCurrentRecord(argv);
  if (record === undefined) return 'load';
  const text: string[] = [];
  // Getting the stream of a pipe or file from Node takes longer than everything else.
  const terminal = isTerminal();
  const stream: OutputStream = terminal ? watched() : { write: line => text.push(line) };
  // Reading `performance` would load a module of Node.
  const tookMs = Number(process.hrtime.bigint() - started) / 1e6;
  printNothingToDo(record.report, tookMs, { style: makeStyle(stream), line: line => void stream.write(`${line}\n`) });
  return writeNow(text.join('')) && !terminal ? 'written' : 'answered';
}

/** The function that makes such figures is compiled already, for stamps. */
const BIG = { bigint: true } as const;

/** Whether stdout is a terminal or another character device, whose output is more than bytes and needs its stream. */
function isTerminal(): boolean {
  return fstatSync(1, BIG).isCharacterDevice();
}

function watched(): OutputStream {
  watchOutput();
  return process.stdout;
}

/** Also undefined if a file cannot be examined: the build examines it again and reports the error. */
function findCurrentRecord(argv: readonly string[]): NoOpRecord | undefined {
  try {
    const request = readBuildRequest(argv, process.cwd());
    if (request?.answer !== 'text') return undefined;
    const projectFolder = findProjectFolder(request.file);
    const record = readNoOpRecord(noOpRecordPath(projectFolder, pipelineNameOf(request.file)));
    const needs = { request: requestText(request), projectFolder, environment: process.env, guard: platformGuard, digest };
    return record !== undefined && lookWithoutOptimizing(record.stamps, () => isCurrent(record, needs)) ? record : undefined;
  } catch {
    return undefined;
  }
}

function digest(text: string): Digest {
  return process.getBuiltinModule('node:crypto').hash('sha256', text, 'hex') as Digest;
}
