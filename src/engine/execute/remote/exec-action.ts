/**
 * Runs one action from an input root: on a worker of a remote server, or here. The machine proves that it is of the expected kind first.
 * What it says goes to standard output, one message per line; the exit code says how it ended.
 */
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type JsonReader, readJsonShape } from '../../../base/json/json-shape.js';
import { parseJson } from '../../../base/json.js';
import { readerOf } from '../../../base/schema/schema-reader.js';
import { hasCode } from '../../../base/system-error.js';
import type { StagePlugin } from '../../../stage/define-stage.js';
import { makeMask } from '../../../stage/mask.js';
import { messageOf } from '../../model/engine-error.js';
import { type Failure, toFailure } from '../../model/failure.js';
import { isInnerPath } from '../../store/files/tree.js';
import type { RunPartStore } from '../parts/part-service.js';
import { inProcessRunner } from '../run/in-process-run.js';
import { createReaper } from '../run/reaper.js';
import { type InputLink, makeRunFolder } from '../run/run-folder.js';
import type { RunListener, RunOrder } from '../run/runner.js';
import { workerRunner } from '../run/worker-run.js';
import { createStarters } from '../starter/starters.js';
import { ACTION_DOCUMENT, type ActionDocument, mapInputs } from '../worker/action-document.js';
import { PARTS_DOCUMENT, PARTS_DOCUMENT_NAME } from '../worker/parts-document.js';
import { EXECUTION_DOCUMENT, EXECUTION_EXIT, type ExecutionDocument, ROOT_LAYOUT } from './execution-document.js';
import type { FromExecution } from './execution-messages.js';
import { assertMachine, assertRuntime, findTools, Refused } from './prove-machine.js';

/** Programs of a worker whose environment has no PATH. The PATH of the client never arrives here. */
const USUAL_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

export interface ExecActionPorts {
  /** The folder with `workers/`. */
  readonly installRoot: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Computes the class of this machine. */
  readonly platformClass: () => Promise<string>;
  /** The plugins that only start programs. */
  readonly findInProcess: (name: string) => StagePlugin | undefined;
  readonly say: (message: FromExecution) => void;
  readonly signal: AbortSignal;
}

/** @param root the input root. Outputs are written to it, at the paths that the action document names. @returns the exit code. */
export async function execAction(root: string, ports: ExecActionPorts): Promise<number> {
  const { say } = ports;
  try {
    const failure = await runIn(realpathSync(root), ports);
    if (failure !== undefined) return sayFailure(failure, say);
    say({ kind: 'done' });
    return EXECUTION_EXIT.done;
  } catch (error) {
    if (error instanceof Refused) {
      say({ kind: 'refused', reason: error.reason, message: error.message });
      return EXECUTION_EXIT.refused;
    }
    return sayFailure(toFailure(error), say);
  }
}

/** What a stage says on a full disk is not about the stage: another machine may run it. */
function sayFailure(failure: Failure, say: ExecActionPorts['say']): number {
  if (failure.code === 'disk-full') {
    say({ kind: 'refused', reason: 'disk', message: `the disk of the worker is full: ${failure.message}` });
    return EXECUTION_EXIT.refused;
  }
  say({ kind: 'failed', failure });
  return EXECUTION_EXIT.failed;
}

async function runIn(root: string, ports: ExecActionPorts): Promise<Failure | undefined> {
  const execution = readDocument(join(root, ROOT_LAYOUT.execution), readerOf(EXECUTION_DOCUMENT));
  const action = readDocument(join(root, ROOT_LAYOUT.action), readerOf(ACTION_DOCUMENT));
  const environment = { ...ports.environment, PATH: ports.environment.PATH ?? USUAL_PATH };
  assertRuntime(execution, ports.installRoot);
  await assertMachine(execution, ports.platformClass);
  const tools = await findTools(execution, root, environment.PATH);
  assertInner(action);
  const folder = newRunFolder(root);
  const reaper = createReaper();
  const starters = createStarters(ports.installRoot, { count: 1, after: Number.POSITIVE_INFINITY, reaper });
  reaper.open();
  try {
    const order: RunOrder = {
      action,
      local: { modulePath: modulePathOf(execution, root), known: {}, tools },
      bundle: bundleOf(execution, ports.installRoot),
      links: linksOf(action, root),
      folder,
      installRoot: ports.installRoot,
      environment,
      declaredEnv: execution.env,
      partStore: COMPUTING,
      listener: listenerOf(ports.say),
      signal: ports.signal,
      reaper,
      starters,
      lentSlots: undefined,
      guard: undefined,
      mask: makeMask([]),
    };
    placeParts(root, folder, execution);
    const failure = await runnerOf(execution, ports).run(order);
    if (failure === undefined) moveOutputs(action, folder, root);
    return failure;
  } finally {
    await starters.close();
    reaper.close();
    rmSync(dirname(folder), { recursive: true, force: true });
  }
}

/** @throws Refused. */
function readDocument<T>(path: string, reader: JsonReader<T>): T {
  let bytes: string;
  try {
    bytes = readFileSync(path, 'utf8');
  } catch (error) {
    throw new Refused('document', `${path} cannot be read: ${messageOf(error)}`);
  }
  const read = readJsonShape(reader, parseJson(bytes));
  if (read.kind === 'ok') return read.value;
  throw new Refused('document', `${path} is malformed: ${read.problems.map(problem => `${problem.path} ${problem.message}`).join('; ')}`);
}

/** Paths of a document come from another machine. */
function assertInner({ inputs, outputs }: ActionDocument): void {
  const paths = [
    ...Object.values(inputs).flatMap(path => (typeof path === 'string' ? [path] : Object.values(path))),
    ...Object.values(outputs),
  ];
  for (const path of paths)
    if (!isInnerPath(path)) throw new Refused('document', `the action document names "${path}", which is not a path inside the input root`);
}

function modulePathOf({ program }: ExecutionDocument, root: string): string {
  if (program.kind !== 'module') return 'in the worker';
  if (!isInnerPath(program.path)) throw new Refused('document', `"${program.path}" is not a path inside the input root`);
  return join(root, program.path);
}

/** The worker that contains the plugin, or the one that loads it from its module. */
function bundleOf({ program }: ExecutionDocument, installRoot: string): string | undefined {
  if (program.kind === 'in-process') return undefined;
  const name = program.kind === 'worker' ? program.plugin : ANY_PLUGIN;
  const path = join(installRoot, 'workers', `${name}.cjs`);
  if (!/^[\w-]+$/.test(name) || !existsSync(path)) throw new Refused('document', `the runtime of this worker has no worker "${name}"`);
  return path;
}

/** The worker for plugins that are modules. */
export const ANY_PLUGIN = 'any-plugin';

function runnerOf({ program }: ExecutionDocument, { findInProcess }: ExecActionPorts): Pick<typeof workerRunner, 'run'> {
  if (program.kind !== 'in-process') return workerRunner;
  const plugin = findInProcess(program.plugin);
  if (plugin === undefined) throw new Refused('document', `the runtime of this worker has no plugin "${program.plugin}"`);
  return inProcessRunner(plugin);
}

function linksOf(action: ActionDocument, root: string): readonly InputLink[] {
  const links: InputLink[] = [];
  mapInputs(action.inputs, link => {
    const to = join(root, link);
    links.push({ link, to, kind: lstatSync(to).isDirectory() ? 'tree' : 'file' });
    return link;
  });
  return links;
}

/** Beside the inputs, so that outputs can be moved; elsewhere if the worker made that folder read-only. */
function newRunFolder(root: string): string {
  const make = (parent: string): string => {
    const folder = mkdtempSync(join(parent, 'tanren-run-'));
    makeRunFolder(join(folder, 'run'));
    return join(folder, 'run');
  };
  try {
    return make(root);
  } catch {
    return make(tmpdir());
  }
}

/** Gives the worker the document of its parts, with paths on this machine. */
function placeParts(root: string, folder: string, { program }: ExecutionDocument): void {
  const path = join(root, PARTS_DOCUMENT_NAME);
  if (!existsSync(path)) return;
  const { format, parts } = readDocument(path, readerOf(PARTS_DOCUMENT));
  const inRoot = (inner: string): string => {
    if (!isInnerPath(inner)) throw new Refused('document', `"${inner}" is not a path inside the input root`);
    return join(root, inner);
  };
  const paths = (named: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(named).map(([role, inner]) => [role, inRoot(inner)]));
  const placed = parts.map(part => ({
    ...part,
    module: program.kind === 'module' ? inRoot(part.module) : part.module,
    blobs: paths(part.blobs),
    unkeyed: paths(part.unkeyed),
  }));
  writeFileSync(join(folder, PARTS_DOCUMENT_NAME), JSON.stringify({ format, parts: placed }));
}

function moveOutputs({ outputs }: ActionDocument, folder: string, root: string): void {
  for (const path of Object.values(outputs)) {
    const from = join(folder, path);
    const stat = lstatSync(from, { throwIfNoEntry: false });
    if (stat === undefined) continue;
    mkdirSync(dirname(join(root, path)), { recursive: true });
    try {
      if (stat.isSymbolicLink()) cpSync(realpathSync(from), join(root, path), { recursive: true });
      else renameSync(from, join(root, path));
    } catch (error) {
      if (!hasCode(error, 'EXDEV')) throw error;
      cpSync(from, join(root, path), { recursive: true, verbatimSymlinks: true });
    }
  }
}

function listenerOf(say: ExecActionPorts['say']): RunListener {
  return {
    log: (level, message) => say(level === 'output' ? { kind: 'output', text: message } : { kind: 'log', level, message }),
    progress: (done, total, what) => say({ kind: 'progress', done, total, what }),
    identify: identity => say({ kind: 'identity', identity }),
    usage: peakBytes => say({ kind: 'usage', peakBytes }),
  };
}

/** Parts are computed: a worker has no store of its own. */
const COMPUTING: RunPartStore = {
  find: async () => ({ kind: 'missing', ticket: '' }),
  keep: async (_ticket, folder, names) => Object.fromEntries(names.map(name => [name, join(folder, name)])),
  drop: () => undefined,
  release: () => undefined,
  used: new Set(),
};
