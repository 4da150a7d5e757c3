/** Runs a compiler in a folder of its own, with a limit of time, and reports what its log says. */
import { cpSync, lstatSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { getDefined } from '../../src/base/invariant.js';
import type { Context } from '../../src/stage/context.js';
import type { StageJob } from '../../src/stage/define-stage.js';
import { writeJsonFile, writeMetricsFile } from '../../src/stage/json-file.js';
import { getInputPath, getOutputPath } from '../../src/stage/paths.js';
import { StageError } from '../../src/stage/stage-error.js';
import { findTool } from './described-tools.js';
import type { ToolchainParams, ToolDescription } from './params.js';
import { openLogReader, type ToolFinding, type ToolLog } from './read-log.js';

export const TOOLCHAIN_FORMAT = 'tanren-toolchain/1';

const TAIL_CHARACTERS = 4000;
const SHOWN_FINDINGS = 5;
/** For printing a version. */
const VERSION_SECONDS = 120;

/** @throws StageError `toolchain-version`, `toolchain-timeout`, `toolchain-failed`, `toolchain-output`. */
export async function runToolchain({ params, inputs, outputs, context }: StageJob<ToolchainParams>): Promise<void> {
  const tool = getDefined(findTool(params), 'compiler');
  const work = join(context.scratch, 'work');
  const output = join(work, 'output');
  mkdirSync(output, { recursive: true });
  await checkVersion(tool, params, context, work);
  // Links are followed: their targets are the input. A model may be a folder.
  cpSync(getInputPath(inputs, 'model'), join(work, tool.modelName), { recursive: true, dereference: true });
  const log = openLogReader(tool);
  const command = tool.run.flatMap(part =>
    part === '{options}' ? params.options : [part.replaceAll('{model}', tool.modelName).replaceAll('{output}', 'output')],
  );
  const ended = await runLimited(command, {
    context,
    cwd: work,
    env: tool.env,
    seconds: params.timeoutSeconds,
    onText: (stream, text) => log.add(stream, text),
  });
  const read = log.end();
  report(context, tool, read);
  if (ended.kind === 'timeout')
    throw failed(
      'toolchain-timeout',
      `${tool.name} was killed after ${params.timeoutSeconds} s`,
      read,
      ended.tail,
      'raise `timeoutSeconds`, or compile a smaller part of the model',
    );
  const errors = read.findings.filter(({ severity }) => severity === 'error');
  if (ended.exitCode !== 0 || read.counts.error > 0) {
    const how = ended.signal === undefined ? `exit code ${ended.exitCode ?? 'none'}` : `signal ${ended.signal}`;
    throw failed(
      'toolchain-failed',
      `${tool.name} ended with ${how}${describe(errors)}`,
      read,
      ended.tail,
      "the stage's log has the whole output of the compiler",
    );
  }
  const written = listWritten(output);
  const missing = tool.required.filter(name => !written.some(file => matches(name, file)));
  if (missing.length > 0 || written.length === 0)
    throw failed(
      'toolchain-output',
      `${tool.name} ended with exit code 0 and did not write ${missing.join(', ') || 'a file'}`,
      read,
      ended.tail,
      'the report of its findings is in the log; `required` of the description names the files',
    );
  renameSync(output, getOutputPath(outputs, 'compiled'));
  await writeJsonFile(getOutputPath(outputs, 'report'), {
    format: TOOLCHAIN_FORMAT,
    tool: tool.name,
    version: params.version,
    command,
    files: written,
    findings: read.findings,
    figures: read.figures,
    leftOut: read.leftOut,
  });
  await writeMetricsFile(getOutputPath(outputs, 'metrics'), { ...read.figures, findings: read.counts });
}

/** The version is a param, and so part of the key: the installed compiler must be that one. */
async function checkVersion(
  { name, version }: ToolDescription,
  { version: wanted }: ToolchainParams,
  context: Context,
  cwd: string,
): Promise<void> {
  let text = '';
  const ended = await runLimited(version.run, {
    context,
    cwd,
    env: {},
    seconds: VERSION_SECONDS,
    onText: (_stream, more) => {
      text = (text + more).slice(0, 64 * 1024);
    },
  });
  const found = new RegExp(version.pattern, 'mu').exec(text)?.groups?.version;
  if (ended.kind === 'timeout' || found === undefined) {
    throw new StageError(
      'toolchain-version',
      `${version.run.join(' ')} did not print the version of ${name}${ended.tail === '' ? '' : `; its output:\n${ended.tail}`}`,
      {
        help: 'install the compiler, or correct `version` of its description',
      },
    );
  }
  if (found === wanted) return;
  throw new StageError('toolchain-version', `${name} has version ${found}, and the pipeline file states ${wanted}`, {
    details: { found, wanted },
    help: `set \`version: ${/^\d+(\.\d+)?$/.test(found) ? `"${found}"` : found}\`, or install ${wanted}`,
  });
}

interface Limited {
  readonly context: Context;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly seconds: number;
  readonly onText: (stream: 'stdout' | 'stderr', text: string) => void;
}

type Ended =
  | { readonly kind: 'ended'; readonly exitCode: number | undefined; readonly signal: string | undefined; readonly tail: string }
  | { readonly kind: 'timeout'; readonly tail: string };

/** Output of both streams goes to `onText`, and to the log. After the time, the program and its process group are killed. */
async function runLimited(command: readonly string[], { context, cwd, env, seconds, onText }: Limited): Promise<Ended> {
  let tail = '';
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), seconds * 1000);
  const onOutput = (stream: 'stdout' | 'stderr', text: string): void => {
    tail = (tail + text).slice(-TAIL_CHARACTERS);
    onText(stream, text);
  };
  try {
    const { exitCode, signal } = await context.spawn(command, { cwd, env, onOutput, signal: late.signal });
    return late.signal.aborted ? { kind: 'timeout', tail: tail.trimEnd() } : { kind: 'ended', exitCode, signal, tail: tail.trimEnd() };
  } finally {
    clearTimeout(timer);
  }
}

function report(context: Context, { name }: ToolDescription, { findings, figures, leftOut }: ToolLog): void {
  for (const finding of findings.slice(0, 100)) {
    const times = finding.count > 1 ? ` (${finding.count} times)` : '';
    context.log(finding.severity === 'note' ? 'info' : 'warning', `${name}: ${finding.severity}: ${finding.message}${times}`);
  }
  const more = findings.length - 100 + leftOut;
  if (more > 0) context.log('warning', `${name}: ${more} more findings are in the log`);
  for (const [figure, value] of Object.entries(figures)) context.log('info', `${name}: ${figure} ${value}`);
}

function describe(findings: readonly ToolFinding[]): string {
  const [first] = findings;
  return first === undefined ? '' : `: ${first.message}${findings.length > 1 ? `, and ${findings.length - 1} more errors` : ''}`;
}

function failed(code: string, message: string, { findings }: ToolLog, tail: string, help: string): StageError {
  const output = tail === '' ? '; it printed nothing' : `; its last output:\n${tail}`;
  return new StageError(code, `${message}${output}`, { details: { findings: findings.slice(0, SHOWN_FINDINGS) }, help });
}

/** Nothing if the compiler removed the folder, or put something else in its place. */
function listWritten(output: string): readonly string[] {
  if (lstatSync(output, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  return readdirSync(output, { recursive: true }).map(String).sort();
}

/** "*" stands for any characters but "/". */
function matches(pattern: string, file: string): boolean {
  const parts = pattern.split('*').map(part => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('[^/]*')}$`, 'u').test(file);
}
