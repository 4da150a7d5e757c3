/** Answers a build with nothing to do: if the no-op record still holds, the answer is printed before other modules are loaded. */
import { fstatSync } from 'node:fs';
import type { Digest } from '../base/digest.js';
import { pipelineNameOf } from '../engine/config/pipeline-name.js';
import { findProjectFolder } from '../engine/config/project-folder.js';
import { holds } from '../engine/noop/check-seal.js';
import { readSeal, type Seal, sealPath } from '../engine/noop/seal.js';
import { platformGuard } from '../runtime/platform/platform-guard.js';
import { readBuildRequest, requestText } from './build-request.js';
import { watchOutput } from './lost-output.js';
import type { OutputStream } from './render/batched-output.js';
import { makeConsole } from './render/console.js';
import { printNothingToDo } from './render/settled-report.js';
import { writeNow } from './write-now.js';

/** @returns whether `tanren build …` has been answered. If not, nothing was done, and the command line must be loaded. */
export function answerQuickly(argv: readonly string[]): boolean {
  const started = process.hrtime.bigint();
  const seal = findHolding(argv);
  if (seal === undefined) return false;
  const text: string[] = [];
  // Getting the stream of a pipe or file from Node takes longer than everything else.
  const stream: OutputStream = isTerminal() ? watched() : { write: line => text.push(line) };
  // Reading `performance` would load a module of Node.
  const tookMs = Number(process.hrtime.bigint() - started) / 1e6;
  printNothingToDo(seal.report, tookMs, makeConsole({ json: false }, { stdout: stream, stderr: stream }));
  writeNow(text.join(''));
  return true;
}

/** Whether stdout is a terminal or another character device, whose output is more than bytes and needs its stream. */
function isTerminal(): boolean {
  return fstatSync(1).isCharacterDevice();
}

function watched(): OutputStream {
  watchOutput();
  return process.stdout;
}

/** Also undefined if a file cannot be examined: the build examines it again and reports the error. */
function findHolding(argv: readonly string[]): Seal | undefined {
  try {
    const request = readBuildRequest(argv, process.cwd());
    if (request?.answer !== 'text') return undefined;
    const projectFolder = findProjectFolder(request.file);
    const seal = readSeal(sealPath(projectFolder, pipelineNameOf(request.file)));
    const needs = { request: requestText(request), projectFolder, environment: process.env, guard: platformGuard, digest };
    return seal !== undefined && holds(seal, needs) ? seal : undefined;
  } catch {
    return undefined;
  }
}

function digest(text: string): Digest {
  return process.getBuiltinModule('node:crypto').hash('sha256', text, 'hex') as Digest;
}
