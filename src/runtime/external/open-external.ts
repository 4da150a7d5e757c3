/** How does a program on a device become a runner? Started, identified, and given models; what it answers is checked before anybody sees it. */
import { cp, mkdir, readFile, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { digestBytes, digestFile } from '../../base/digest.js';
import type { JsonObject } from '../../base/json.js';
import { decodeRawTensor, encodeRawTensor, makeRawTensor } from '../../tensor/raw-tensor.js';
import type { Tensor } from '../../tensor/tensor.js';
import { TensorError } from '../../tensor/tensor-error.js';
import type { Measurement, Placement, Runner, RunnerSession } from '../runner.js';
import type { ExternalParams } from '../runner-params.js';
import type { SessionOptions } from '../session.js';
import { findFallback } from './check-placement.js';
import { type Connection, connect, type RunnerProgram } from './connection.js';
import { type Answers, type ModelReference, PROTOCOL_VERSION, type TensorHeader } from './messages.js';
import { compareOutput, compareSignature, type ModelSignature, readSignature } from './model-signature.js';
import { RunnerError } from './runner-error.js';

/** What an external runner needs of the stage that uses it: a stage's context has all of it. */
export interface RunnerHost {
  start(
    command: readonly string[],
    options: {
      readonly cwd: string;
      readonly env: Readonly<Record<string, string>>;
      readonly onOutput: (stream: 'stdout' | 'stderr', text: string) => void;
    },
  ): RunnerProgram;
  /** Gets the identity at every start, before any result. */
  identify(identity: JsonObject): void;
  log(level: 'info' | 'warning', message: string): void;
  /** An empty folder. */
  readonly scratch: string;
}

const STDERR_TAIL_CHARACTERS = 4_000;

/** @param files placed in the runner's folder as "<name><extension>". @throws RunnerError: see `connect`; `runner-device`, `runner-cpu-fallback`. */
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

/** Copies, as a program may write beside itself. */
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
  throw new RunnerError(
    'runner-protocol',
    `the runner speaks version ${answer.protocol} of the protocol, this is version ${PROTOCOL_VERSION}`,
    {
      help: 'take the runner of a bundle that this version of Tanren wrote',
    },
  );
}

function checkDevice({ device, provider }: Answers['hello']['identity'], params: ExternalParams, host: Pick<RunnerHost, 'log'>): void {
  if (device.kind === params.device) return;
  const what = `the runner speaks for the ${device.kind.toUpperCase()} "${device.name}" (${provider}), the stage wants the ${params.device.toUpperCase()}`;
  if (device.kind === 'cpu' && params.cpuFallback === 'allow') {
    host.log('warning', `${what}; it is taken, as external.cpuFallback allows it`);
    return;
  }
  throw device.kind === 'cpu'
    ? new RunnerError('runner-cpu-fallback', what, { help: FALLBACK_HELP })
    : new RunnerError('runner-device', what, { help: "set external.device to the runner's device, or start another runner" });
}

const FALLBACK_HELP =
  "see the runner's log for why the device was not used: driver, firmware and provider options must fit each other; `external.cpuFallback: allow` takes results of the CPU, and says so";

interface Opening {
  readonly connection: Connection;
  readonly params: ExternalParams;
  readonly host: Pick<RunnerHost, 'log'>;
}

async function openModel(
  { connection, params, host }: Opening,
  model: string | Uint8Array,
  options: SessionOptions,
): Promise<RunnerSession> {
  const signature = await readSignature(model);
  const { reference, payload } = await refer(model, signature.name, params.models);
  const { answer } = await connection.ask(
    { type: 'load', model: reference, session: { optimization: options.optimization }, options: params.options },
    payload,
    { phase: 'loading a model', seconds: params.timeouts.loadSeconds },
  );
  const problems = compareSignature(signature, answer);
  if (problems.length > 0) throw connection.fail(wrongOutputs(signature, problems));

  let placement: Placement | undefined;
  let warned = 'no' as 'no' | 'yes';
  const note = (found: Placement): void => {
    const fallback = params.device === 'cpu' ? undefined : findFallback(found, params);
    if (fallback !== undefined && params.cpuFallback === 'refuse') {
      throw connection.fail(
        new RunnerError('runner-cpu-fallback', `${signature.name}: ${fallback}`, { details: { placement: found }, help: FALLBACK_HELP }),
      );
    }
    if (fallback !== undefined && warned === 'no')
      host.log('warning', `${signature.name}: ${fallback}; it is taken, as external.cpuFallback allows it`);
    if (fallback !== undefined) warned = 'yes';
    placement = found;
  };
  const outputNames = signature.outputs.map(({ name }) => name);
  const run = async (feeds: Feeds, wanted: readonly string[], warmup: number, repeats: number): Promise<Measurement> => {
    const inputs = signature.inputs.map(({ name }) => encodeFeed(signature, name, feeds));
    const { answer: ran, payload: given } = await connection.ask(
      { type: 'run', session: answer.session, warmup, repeats, inputs: inputs.map(({ header }) => header), outputs: wanted },
      inputs.map(({ bytes }) => bytes),
      { phase: 'running a model', seconds: params.timeouts.runSeconds * (warmup + repeats) },
    );
    note(ran.placement);
    const wrong = [...compareNames(wanted, ran.outputs), ...ran.outputs.flatMap(output => compareOutput(signature, output))];
    if (ran.durationsMs.length !== repeats) wrong.push(`${ran.durationsMs.length} times for ${repeats} runs`);
    if (wrong.length > 0) throw connection.fail(wrongOutputs(signature, wrong));
    return { outputs: decodeOutputs(connection, signature, ran.outputs, given), durationsMs: ran.durationsMs };
  };

  return {
    inputNames: signature.inputs.map(({ name }) => name),
    outputNames,
    run: async (feeds, fetches) => (await run(feeds, fetches ?? outputNames, 0, 1)).outputs,
    measure: (feeds, { warmup, repeats }) => run(feeds, outputNames, warmup, repeats),
    get placement() {
      return placement;
    },
    async close() {
      await connection.ask({ type: 'unload', session: answer.session }, [], { phase: 'closing', seconds: params.timeouts.startSeconds });
    },
  };
}

type Feeds = Readonly<Record<string, Tensor>>;

async function refer(
  model: string | Uint8Array,
  name: string,
  models: ExternalParams['models'],
): Promise<{ readonly reference: ModelReference; readonly payload: readonly Uint8Array[] }> {
  if (typeof model === 'string' && models === 'path') {
    const { size } = await stat(model);
    return { reference: { name, digest: await digestFile(model), sizeBytes: size, path: model }, payload: [] };
  }
  const bytes = typeof model === 'string' ? await readFile(model) : model;
  return { reference: { name, digest: digestBytes(bytes), sizeBytes: bytes.byteLength }, payload: [bytes] };
}

function encodeFeed(
  { name: model }: ModelSignature,
  name: string,
  feeds: Feeds,
): { readonly header: TensorHeader; readonly bytes: Uint8Array } {
  const tensor = feeds[name];
  if (tensor === undefined) throw new RunnerError('runner-feeds', `${model} takes an input "${name}", which is not given`);
  const { dtype, dims, bytes } = encodeRawTensor(tensor);
  return { header: { name, dtype, dims, bytes: bytes.byteLength }, bytes };
}

function compareNames(wanted: readonly string[], given: readonly TensorHeader[]): string[] {
  const names = given.map(({ name }) => name);
  if (names.length === wanted.length && names.every((name, index) => name === wanted[index])) return [];
  return [`its outputs are ${names.join(', ')}; asked was for ${wanted.join(', ')}`];
}

function decodeOutputs(
  connection: Connection,
  signature: ModelSignature,
  headers: readonly TensorHeader[],
  payload: Uint8Array,
): Readonly<Record<string, Tensor>> {
  const announced = headers.reduce((sum, { bytes }) => sum + bytes, 0);
  if (announced !== payload.byteLength)
    throw connection.fail(wrongOutputs(signature, [`its outputs have ${announced} bytes, the payload has ${payload.byteLength}`]));
  const outputs: Record<string, Tensor> = {};
  let offset = 0;
  for (const { name, dtype, dims, bytes } of headers) {
    const slice = payload.subarray(offset, offset + bytes);
    offset += bytes;
    if (dtype === 'string') throw connection.fail(wrongOutputs(signature, [`output "${name}" holds strings, which have no raw form`]));
    try {
      outputs[name] = decodeRawTensor(makeRawTensor(dtype, dims, slice));
    } catch (error) {
      if (!(error instanceof TensorError)) throw error;
      throw connection.fail(wrongOutputs(signature, [`output "${name}": ${error.message}`]));
    }
  }
  return outputs;
}

function wrongOutputs({ name }: ModelSignature, problems: readonly string[]): RunnerError {
  return new RunnerError('runner-outputs', `what the runner says of ${name} is not what the model gives: ${problems.join('; ')}`, {
    details: { problems },
    help: 'the runner runs another model, or reads its outputs wrong; its results are not used',
  });
}
