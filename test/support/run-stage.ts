/** Runs one plugin alone, with real folders, real programs, and a context that remembers what was logged. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getDefined } from '../../src/base/invariant.js';
import type { JsonObject } from '../../src/base/json.js';
import type { Context, Part, PartRequest, PartResult } from '../../src/stage/context.js';
import type { InputPaths, StagePlugin } from '../../src/stage/define-stage.js';
import type { Ports } from '../../src/stage/ports.js';
import { baseEnvironment, runTool, startTool } from '../../src/stage/tool-runner.js';
import { ajvOf } from './params-schema.js';

export interface StageRun {
  /** One path per output port. */
  readonly outputs: Readonly<Record<string, string>>;
  readonly log: readonly string[];
  /** What programs printed to the stage's log. */
  readonly printed: readonly string[];
}

/** What a build could do to a stage while it runs. */
export type Interruption = Partial<Pick<Context, 'signal' | 'progress'>>;

/** Runs `plugin` in a folder of its own under `folder`; params get their defaults as in a build. */
export async function runStage<Params>(
  plugin: StagePlugin<Params>,
  {
    params,
    inputs,
    folder,
    memo,
    build,
    ...interruption
  }: { params: JsonObject; inputs: InputPaths; folder: string; memo?: Context['memo']; build?: Context['build'] } & Interruption,
): Promise<StageRun> {
  const parsed = parseParams(plugin, params);
  const here = await mkdtemp(join(folder, 'run-'));
  const ports = outputPorts(plugin, parsed);
  const outputs = Object.fromEntries(Object.keys(ports).map(port => [port, join(here, port)]));
  const log: string[] = [];
  const printed: string[] = [];
  const scratch = await mkdtemp(join(here, 'scratch-'));
  await plugin.run({
    params: parsed,
    inputs,
    outputs,
    context: { ...testContext(scratch, log, printed), ...interruption, ...(memo && { memo }), build },
  });
  return { outputs, log, printed };
}

/** Runs a part, and keeps nothing. */
async function runPart<Input extends JsonObject>(
  part: Part<Input>,
  request: PartRequest<Input>,
  { scratch, signal, log }: { scratch: string; signal: AbortSignal; log: string[] },
): Promise<PartResult> {
  const folder = await mkdtemp(join(scratch, 'part-'));
  const context = { signal, log: (level: 'info' | 'warning', message: string) => log.push(`${level}: ${message}`) };
  const names = await part.run({ manifest: request.manifest, blobs: request.blobs, unkeyed: request.unkeyed ?? {}, folder, context });
  return { files: Object.fromEntries(names.map(name => [name, join(folder, name)])), from: 'computed' };
}

/** Checks params against the plugin's schema, fills defaults, and applies its own checks. Throws all problems in one message. */
export function parseParams<Params>(plugin: StagePlugin<Params>, params: JsonObject): Params {
  const parsed = ajvOf(plugin.params)(params) as Params;
  const problems = plugin.checkParams?.(parsed) ?? [];
  if (problems.length > 0) throw new Error(problems.join('\n'));
  return parsed;
}

export function outputPorts<Params>(plugin: StagePlugin<Params>, params: Params): Ports {
  return typeof plugin.outputs === 'function' ? plugin.outputs(params) : plugin.outputs;
}

/** A folder for one test file, removed by `remove`. */
export async function temporaryFolder(name: string): Promise<{ path: string; remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), `tanren-${name}-`));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

/** A temporary folder for all tests of a suite, which its end removes. To be called in the suite, before hooks that use it. */
export function givenFolder(name: string): { readonly path: string } {
  let folder: Awaited<ReturnType<typeof temporaryFolder>> | undefined;
  beforeAll(async () => {
    folder = await temporaryFolder(name);
  });
  afterAll(() => folder?.remove());
  return {
    get path() {
      return getDefined(folder, `the folder ${name}`).path;
    },
  };
}

function testContext(scratch: string, log: string[], printed: string[]): Context {
  const { signal } = new AbortController();
  const programs = {
    env: baseEnvironment(process.env, scratch),
    signal,
    group: 'own',
    log: (text: string) => void printed.push(text),
  } as const;
  return {
    signal,
    scratch,
    log: (level, message) => log.push(`${level}: ${message}`),
    progress: () => undefined,
    random: seededRandom,
    partsAtOnce: 1,
    build: undefined,
    env: {},
    memo: (part, request) => runPart(part, request, { scratch, signal, log }),
    spawn: (command, options) => runTool(command, options, programs),
    start: (command, options) => startTool(command, options, programs),
    identify: () => undefined,
  };
}

/** Uniform doubles in [0, 1), the same for the same label: a linear congruential generator (Numerical Recipes). */
function seededRandom(label: string): () => number {
  let state = [...label].reduce((sum, character) => (Math.imul(sum, 31) + (character.codePointAt(0) ?? 0)) >>> 0, 7);
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
