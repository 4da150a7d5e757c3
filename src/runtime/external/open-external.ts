/** Opens external runners: starts the program, checks its identity, and gives it models. */
import { cp, mkdir, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { JsonObject } from '../../base/json.js';
import type { Runner } from '../device/runner.js';
import type { ExternalParams } from '../device/runner-params.js';
import { type Connection, connect, type RunnerProgram } from './connection.js';
import { type Answers, PROTOCOL_VERSION } from './messages.js';
import { FALLBACK_HELP, openModel } from './model-session.js';
import { RunnerError } from './runner-error.js';

/** The parts of a stage's context that an external runner needs. */
export interface RunnerHost {
  start(
    command: readonly string[],
    options: {
      readonly cwd: string;
      readonly env: Readonly<Record<string, string>>;
      readonly onOutput: (stream: 'stdout' | 'stderr', text: string) => void;
    },
  ): RunnerProgram;
  /** Called with the identity at every start, before any result. */
  identify(identity: JsonObject): void;
  log(level: 'info' | 'warning', message: string): void;
  /** An empty folder. */
  readonly scratch: string;
}

const STDERR_TAIL_CHARACTERS = 4_000;

/** @param files copied to the runner's folder as "<name><extension>". @throws RunnerError: see `connect`; `runner-device`, `runner-cpu-fallback`. */
export async function openExternalRunner(
  params: ExternalParams,
  files: Readonly<Record<string, string>>,
  host: RunnerHost,
): Promise<Runner> {
  const cwd = await placeFiles(files, host.scratch);
  let stderr = '';
  const onOutput = (stream: 'stdout' | 'stderr', text: string): void => {
    if (stream === 'stderr') stderr = (stderr + text).slice(-STDERR_TAIL_CHARACTERS);
  };
  const connection = connect(host.start(params.command, { cwd, env: {}, onOutput }), () => stderr);
  try {
    const identity = await greet(connection, params);
    host.identify(identity);
    checkDevice(identity, params, host);
    return {
      identity,
      open: (model, options) => openModel({ connection, params, host }, model, options),
      close: connection.close,
    };
  } catch (error) {
    const failure = error instanceof RunnerError ? connection.fail(error) : error;
    await connection.close();
    throw failure;
  }
}

/** Copies the files, because a program may write beside itself. */
async function placeFiles(files: Readonly<Record<string, string>>, scratch: string): Promise<string> {
  const folder = join(scratch, 'runner');
  await mkdir(folder, { recursive: true });
  for (const [name, from] of Object.entries(files)) {
    const extension = (await stat(from)).isDirectory() ? '' : extname(from);
    await cp(from, join(folder, `${name}${extension}`), { recursive: true, dereference: true });
  }
  return folder;
}

async function greet(
  connection: Connection,
  { device, label, cpuFallback, timeouts }: ExternalParams,
): Promise<Answers['hello']['identity']> {
  const { answer } = await connection.ask({ type: 'hello', protocol: PROTOCOL_VERSION, device, label, cpuFallback }, [], {
    phase: 'starting',
    seconds: timeouts.startSeconds,
  });
  if (answer.protocol === PROTOCOL_VERSION) return answer.identity;
  throw new RunnerError('runner-protocol', `the runner uses protocol version ${answer.protocol}, expected ${PROTOCOL_VERSION}`, {
    help: 'use the runner from a bundle written by this version of Tanren',
  });
}

function checkDevice({ device, provider }: Answers['hello']['identity'], params: ExternalParams, host: Pick<RunnerHost, 'log'>): void {
  if (device.kind === params.device) return;
  const what = `the runner uses the ${device.kind.toUpperCase()} "${device.name}" (${provider}), but the stage requires the ${params.device.toUpperCase()}`;
  if (device.kind === 'cpu' && params.cpuFallback === 'allow') {
    host.log('warning', `${what}; accepted because of external.cpuFallback: allow`);
    return;
  }
  throw device.kind === 'cpu'
    ? new RunnerError('runner-cpu-fallback', what, { help: FALLBACK_HELP })
    : new RunnerError('runner-device', what, { help: "set external.device to the runner's device, or use another runner" });
}
