/** Sessions on an external runner: the model is loaded once and run on request. Every answer is checked against the model. */
import { readFile, stat } from 'node:fs/promises';
import { digestBytes, digestFile } from '../../base/digest.js';
import type { Tensor } from '../../tensor/tensor.js';
import type { Measurement, RunnerSession } from '../device/runner.js';
import type { Placement } from '../device/runner-identity.js';
import type { ExternalParams } from '../device/runner-params.js';
import type { SessionOptions } from '../session/session.js';
import { findFallback } from './check-placement.js';
import type { Connection } from './connection.js';
import type { ModelReference } from './messages.js';
import { compareOutputs, compareSignature, type ModelSignature, readSignature } from './model-signature.js';
import { encodeFeeds, readOutputs } from './payload.js';
import { RunnerError } from './runner-error.js';

export const FALLBACK_HELP =
  "see the runner's log for the reason: driver, firmware and provider options must match; `external.cpuFallback: allow` accepts results of the CPU with a warning";

export interface ModelHost {
  readonly connection: Connection;
  readonly params: ExternalParams;
  readonly host: { log(level: 'info' | 'warning', message: string): void };
}

/** @throws RunnerError as `Connection.ask`; `runner-outputs`, `runner-cpu-fallback`. */
export async function openModel(opened: ModelHost, model: string | Uint8Array, options: SessionOptions): Promise<RunnerSession> {
  const { connection, params } = opened;
  const signature = await readSignature(model);
  const { reference, payload } = await referenceOf(model, signature.name, params.models);
  const { answer } = await connection.ask(
    { type: 'load', model: reference, session: { optimization: options.optimization }, options: params.options },
    payload,
    { phase: 'loading a model', seconds: params.timeouts.loadSeconds },
  );
  const problems = compareSignature(signature, answer);
  if (problems.length > 0) throw connection.fail(wrongOutputs(signature, problems));

  let placement: Placement | undefined;
  const note = makePlacementCheck(opened, signature);
  const outputNames = signature.outputs.map(({ name }) => name);
  const run = async (feeds: Feeds, wanted: readonly string[], warmup: number, repeats: number): Promise<Measurement> => {
    const { headers, pieces } = encodeFeeds(signature, feeds);
    const { answer: ran, payload: given } = await connection.ask(
      { type: 'run', session: answer.session, warmup, repeats, inputs: headers, outputs: wanted },
      pieces,
      { phase: 'running a model', seconds: params.timeouts.runSeconds * (warmup + repeats) },
    );
    note(ran.placement);
    placement = ran.placement;
    const wrong = [...compareOutputs(signature, { inputs: headers, wanted, outputs: ran.outputs })];
    if (ran.durationsMs.length !== repeats) wrong.push(`${ran.durationsMs.length} durations for ${repeats} runs`);
    if (wrong.length > 0) throw connection.fail(wrongOutputs(signature, wrong));
    const outputs = readOutputs(ran.outputs, given);
    if (outputs.kind === 'wrong') throw connection.fail(wrongOutputs(signature, [outputs.problem]));
    return { outputs: outputs.tensors, durationsMs: ran.durationsMs };
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

/** A fallback to the CPU fails the connection. If the stage allows it, it is logged once as a warning. */
function makePlacementCheck({ connection, params, host }: ModelHost, { name }: ModelSignature): (found: Placement) => void {
  let said = 'nothing' as 'nothing' | 'all';
  return found => {
    const fallback = params.device === 'cpu' ? undefined : findFallback(found, params);
    if (fallback === undefined) return;
    if (params.cpuFallback === 'refuse') {
      throw connection.fail(
        new RunnerError('runner-cpu-fallback', `${name}: ${fallback}`, { details: { placement: found }, help: FALLBACK_HELP }),
      );
    }
    if (said === 'nothing') host.log('warning', `${name}: ${fallback}; accepted because of external.cpuFallback: allow`);
    said = 'all';
  };
}

async function referenceOf(
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

function wrongOutputs({ name }: ModelSignature, problems: readonly string[]): RunnerError {
  return new RunnerError('runner-outputs', `the runner's answer does not match ${name}: ${problems.join('; ')}`, {
    details: { problems },
    help: 'the runner runs another model or misreads its outputs; its results are not used',
  });
}
