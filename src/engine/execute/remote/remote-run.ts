/** A run of a stage on a remote worker: the action and its inputs as an input root, and the end of the execution as that of the run. */
import { dirname, join, relative } from 'node:path';
import type { Digest } from '../../../base/digest.js';
import { type Json, parseJson } from '../../../base/json.js';
import { RemoteError } from '../../../remote/error/remote-error.js';
import type { BlobDigest } from '../../../remote/transport/remote-cache.js';
import { slashed } from '../../action/code/describe-code.js';
import { EngineError } from '../../model/engine-error.js';
import { type Failure, toFailure } from '../../model/failure.js';
import type { RuntimePort, RuntimeUse } from '../../model/ports.js';
import { digestPath } from '../../store/files/digest-file.js';
import { statPath } from '../../store/files/stamp.js';
import type { TreeEntry } from '../../store/files/tree.js';
import type { LocalStores } from '../../store/remote/remote-use.js';
import type { InputLink } from '../run/run-folder.js';
import type { RunListener, RunOrder } from '../run/runner.js';
import { PARTS_OUTPUT } from '../worker/parts-document.js';
import { type ExecutionDocument, ROOT_LAYOUT, RUNTIME_LAYOUT, systemOf } from './execution-document.js';
import type { FromExecution } from './execution-messages.js';
import { jsonEntry, makeInputRoot, type RootEntry } from './input-root.js';
import type { ListedOutputs } from './list-outputs.js';
import { type PartOutputs, takePartOutputs } from './part-outputs.js';
import { assertPromised, PROMISED_COMMAND, RUNTIME_PROPERTY } from './promised-runtime.js';
import type { ExecutionEnd, ExecutionOrder, RemoteExecutor } from './remote-executor.js';
import { downloadOutputs } from './remote-outputs.js';
import type { RuntimeDigests } from './runtime-tree.js';
import { InputLost } from './upload.js';

/** The content of an input: a file, or the entries of a folder. */
export type InputContent =
  | { readonly kind: 'file'; readonly blob: BlobDigest; readonly executable: boolean; readonly at: 'here' | 'server' }
  | { readonly kind: 'tree'; readonly entries: readonly TreeEntry[]; readonly at: 'here' | 'server' };

/** What a remote run needs besides the order of every run. */
export interface RemoteJob {
  readonly executor: RemoteExecutor;
  readonly runtime: RuntimePort;
  readonly runtimeDigests: RuntimeDigests;
  /** Class that the worker must have; undefined if no model is run. */
  readonly platformClass: string | undefined;
  readonly program: ProgramOfPlugin;
  readonly tools: Readonly<Record<string, Digest>>;
  readonly contentOf: (link: InputLink) => Promise<InputContent>;
  /** Declared paths of the outputs that come here: the others stay on the server. Undefined: all come. */
  readonly brings: ReadonlySet<string> | undefined;
  readonly timeoutMs: number | undefined;
  readonly properties: Readonly<Record<string, string>>;
  readonly lookup: 'use' | 'skip';
  readonly salt: string;
  readonly onRunning: () => void;
}

export type ProgramOfPlugin =
  /** `main`: the worker's main module, a file of the runtime. */
  | { readonly kind: 'worker'; readonly plugin: string; readonly main: string }
  /** `files`: absolute paths of the modules that it may load. */
  | { readonly kind: 'module'; readonly path: string; readonly files: readonly string[] }
  | { readonly kind: 'in-process'; readonly plugin: string };

export type RemoteRunEnd =
  /** `left`: the outputs, if some stayed on the server. */
  | { readonly kind: 'ended'; readonly failure: Failure | undefined; readonly worker: string; readonly left?: ListedOutputs | undefined }
  /** The server has lost inputs of which there is no copy here. */
  | { readonly kind: 'input-lost' }
  /** The workers could not run it. Nothing is said about the action itself. */
  | { readonly kind: 'impossible'; readonly code: string; readonly why: string; readonly server: 'usable' | 'unusable' };

/** Runs the action of the order on a worker. The outputs are written to the order's folder. Never throws for trouble of the server. */
export async function runRemotely(order: RunOrder, job: RemoteJob): Promise<RemoteRunEnd> {
  try {
    const root = makeInputRoot(await entriesOf(order, job));
    const declared = new Set(Object.values(order.action.outputs));
    let listed: ListedOutputs | undefined;
    const take: ExecutionOrder['take'] = async (result, cache) => {
      listed = await downloadOutputs(cache, result, { declared, brings: job.brings ?? declared }, order.folder);
    };
    const end = readEnd(order, job, await execute(order, job, root, take));
    return end.kind === 'ended' && end.failure === undefined && job.brings !== undefined ? { ...end, left: listed } : end;
  } catch (error) {
    if (error instanceof InputLost) return { kind: 'input-lost' };
    if (error instanceof EngineError) return { kind: 'ended', failure: toFailure(error), worker: '' };
    if (order.signal.aborted) return { kind: 'ended', failure: toFailure(order.signal.reason), worker: '' };
    if (!(error instanceof RemoteError)) throw error;
    return { kind: 'impossible', code: 'remote-execution', why: error.message, server: 'unusable' };
  } finally {
    order.partStore.release();
  }
}

type Executing = Pick<RunOrder, 'action' | 'listener' | 'signal'>;

function execute(
  order: Executing,
  job: RemoteJob,
  root: ReturnType<typeof makeInputRoot>,
  take: ExecutionOrder['take'],
): Promise<ExecutionEnd> {
  const { properties, timeoutMs, lookup, salt, onRunning } = job;
  const own = [RUNTIME_LAYOUT.node, RUNTIME_LAYOUT.main].map(path => `${ROOT_LAYOUT.runtime}/${path}`);
  return job.executor.execute({
    arguments: job.properties[RUNTIME_PROPERTY] === undefined ? own : PROMISED_COMMAND,
    root,
    outputs: Object.values(order.action.outputs),
    properties,
    timeoutMs,
    lookup,
    salt,
    take,
    onMessage: message => passOn(order, message),
    onRunning,
    signal: order.signal,
  });
}

async function entriesOf(order: RunOrder, job: RemoteJob): Promise<readonly RootEntry[]> {
  const entries = [...(await entriesOfCode(job, order.declaredEnv)), jsonEntry(ROOT_LAYOUT.action, toJson(order.action))];
  for (const link of order.links) entries.push(entryOf(link, await job.contentOf(link)));
  return entries;
}

type CodeOfJob = Pick<RemoteJob, 'runtime' | 'runtimeDigests' | 'program' | 'tools' | 'platformClass' | 'properties'>;

/** What does not depend on the inputs: runtime, modules of the plugin, and the document of the execution. */
async function entriesOfCode(job: CodeOfJob, env: Readonly<Record<string, string>>): Promise<readonly RootEntry[]> {
  const { program, files } = await programOf(job.program);
  const promised = job.properties[RUNTIME_PROPERTY];
  if (promised !== undefined) await assertPromised(promised, job.runtime, job.runtimeDigests);
  const document: ExecutionDocument = {
    format: 1,
    system: systemOf(process),
    program,
    tools: job.tools,
    env,
    ...(job.platformClass === undefined ? {} : { platformClass: job.platformClass }),
    ...(promised === undefined ? {} : { runtime: promised }),
  };
  if (promised !== undefined) return [...files, jsonEntry(ROOT_LAYOUT.execution, document)];
  const runtime = await job.runtimeDigests.entriesOf(await job.runtime(useOf(job.program)), ROOT_LAYOUT.runtime);
  return [...runtime, ...files, jsonEntry(ROOT_LAYOUT.execution, document)];
}

function useOf(program: ProgramOfPlugin): RuntimeUse {
  if (program.kind === 'worker') return { kind: 'worker', main: program.main };
  return { kind: program.kind === 'module' ? 'modules' : 'programs' };
}

/** Runs an action of several parts, whose outputs are taken into the local store. */
export async function runPartsRemotely(
  job: RemoteJob,
  entries: readonly RootEntry[],
  local: Pick<LocalStores, 'store' | 'cache'>,
  signal: AbortSignal,
): Promise<{ readonly end: Exclude<RemoteRunEnd, { readonly kind: 'input-lost' }>; readonly outputs: PartOutputs | undefined }> {
  const action: RunOrder['action'] = {
    format: 1,
    plugin: 'parts',
    key: '',
    params: {},
    inputs: {},
    outputs: { parts: PARTS_OUTPUT },
    env: [],
    secrets: [],
    local: [],
  };
  try {
    const root = makeInputRoot([...(await entriesOfCode(job, {})), jsonEntry(ROOT_LAYOUT.action, toJson(action)), ...entries]);
    const silent: RunListener = { log: () => undefined, progress: () => undefined, identify: () => undefined, usage: () => undefined };
    const order = { action, listener: silent, signal };
    let outputs: PartOutputs | undefined;
    const take: ExecutionOrder['take'] = async (result, cache) => {
      outputs = await takePartOutputs(cache, local, result);
    };
    return { end: readEnd(order, job, await execute(order, job, root, take)), outputs };
  } catch (error) {
    if (!(error instanceof RemoteError)) throw error;
    return { end: { kind: 'impossible', code: 'remote-execution', why: error.message, server: 'unusable' }, outputs: undefined };
  }
}

/** The place of a module on the worker: in the runtime, or among the plugin's own. */
export function moduleThere({ program }: RemoteJob, installRoot: string): (path: string) => string {
  if (program.kind !== 'module') return path => slashed(relative(installRoot, path));
  const top = commonFolder([program.path, ...program.files]);
  return path => `${ROOT_LAYOUT.plugin}/${slashed(relative(top, path))}`;
}

function entryOf({ link, to }: InputLink, content: InputContent): RootEntry {
  const from = content.at === 'here' ? to : undefined;
  if (content.kind === 'file') return { kind: 'file', path: link, from, blob: content.blob, executable: content.executable };
  return { kind: 'folder', path: link, from, entries: content.entries };
}

/** The document without the members that are undefined, as a file has it. */
function toJson(action: RunOrder['action']): Json {
  return parseJson(JSON.stringify(action)) ?? null;
}

/** The modules of a third-party plugin keep their places to each other. */
async function programOf(
  program: ProgramOfPlugin,
): Promise<{ readonly program: ExecutionDocument['program']; readonly files: readonly RootEntry[] }> {
  if (program.kind !== 'module') return { program: { kind: program.kind, plugin: program.plugin }, files: [] };
  const top = commonFolder([program.path, ...program.files]);
  const place = (path: string): string => `${ROOT_LAYOUT.plugin}/${slashed(relative(top, path))}`;
  const files: RootEntry[] = [];
  for (const from of new Set([program.path, ...program.files])) {
    const sizeBytes = statPath(from)?.sizeBytes ?? 0;
    files.push({ kind: 'file', path: place(from), from, blob: { hash: await digestPath(from, sizeBytes), sizeBytes }, executable: false });
  }
  return { program: { kind: 'module', path: place(program.path) }, files };
}

function commonFolder(paths: readonly string[]): string {
  let common = dirname(paths[0] ?? '/');
  while (!paths.every(path => path.startsWith(join(common, '/')))) common = dirname(common);
  return common;
}

/** Passes on a message as a local worker's message. What the process says about its end is read elsewhere. */
function passOn({ listener }: Executing, message: FromExecution): void {
  if (message.kind === 'log') listener.log(message.level, message.message);
  else if (message.kind === 'output') listener.log('output', message.text);
  else if (message.kind === 'progress') listener.progress(message.done, message.total, message.what);
  else if (message.kind === 'identity') listener.identify(message.identity);
  else if (message.kind === 'usage') listener.usage(message.peakBytes);
}

/** The codes of refusals: docs/errors.md. */
const REFUSAL_CODES = {
  system: 'remote-system',
  'platform-class': 'remote-class',
  tool: 'remote-tool',
  document: 'remote-runtime',
  disk: 'remote-disk',
} as const;

function readEnd(order: Executing, job: RemoteJob, end: ExecutionEnd): Exclude<RemoteRunEnd, { readonly kind: 'input-lost' }> {
  if (end.kind === 'failed') return { kind: 'impossible', code: 'remote-execution', why: end.message, server: 'usable' };
  if (end.kind === 'timed-out') return { kind: 'ended', failure: toFailure(timedOut(job.timeoutMs)), worker: '' };
  const { exitCode, last, worker, stderr } = end;
  if (exitCode === 0) return { kind: 'ended', failure: undefined, worker };
  if (last?.kind === 'failed') return { kind: 'ended', failure: { ...blankOf(last.failure), logPath: undefined }, worker };
  if (last?.kind === 'refused') return { kind: 'impossible', code: REFUSAL_CODES[last.reason], why: last.message, server: 'usable' };
  const said = stderr.trim().split('\n').slice(-3).join(' ').slice(0, 400);
  const why = `the worker ended the command with exit code ${exitCode} and no result${said === '' ? '' : `: ${said}`}`;
  order.listener.log('output', stderr);
  return { kind: 'impossible', code: 'remote-runtime', why, server: 'usable' };
}

/** The failure of another machine, with the members that it must have. */
function blankOf({ code, message, help, details, causes, stack }: Failure): Omit<Failure, 'logPath'> {
  return { code, message, help, details: details ?? null, causes, stack };
}

function timedOut(timeoutMs: number | undefined): EngineError {
  if (timeoutMs === undefined)
    return new EngineError('timeout', 'the server ended the stage at its own time limit, because the stage has no timeout', {
      help: "set the stage's `timeout`, up to the limit of the server",
    });
  return new EngineError('timeout', `the stage ran longer than its timeout of ${timeoutMs / 1000} s, and was ended by the worker`, {
    details: { timeoutMs },
    help: "raise the stage's `timeout`, or find out in the log what it waits for",
  });
}
