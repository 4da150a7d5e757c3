/** A stage on the network of coarse-network.ts, for one test file: its folder, its memo, its runs, and what it refuses. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '../../src/base/json.js';
import { writeModel } from '../../src/onnx/serde/model-file.js';
import type { StagePlugin } from '../../src/stage/define-stage.js';
import { IMAGE, writeCoarseNetwork } from './coarse-network.js';
import { failureOf } from './error-code.js';
import { type Interruption, runStage, temporaryFolder } from './run-stage.js';
import { smallModel } from './small-model.js';
import { type StoringMemo, storingMemo } from './storing-memo.js';

interface RunOptions extends Interruption {
  readonly memo?: StoringMemo['memo'];
  /** Other files than those of the network, by port. */
  readonly files?: Readonly<Record<string, string>>;
}

interface StageResult {
  /** Path and bytes of the model, if the stage writes one. */
  readonly path: string;
  readonly model: Buffer;
  readonly report: JsonObject;
  readonly log: readonly string[];
}

export interface CoarseStage {
  /** Path of a file of the network: float.onnx, int8.onnx, or one that the test adds. */
  at(name: string): string;
  run(params?: JsonObject, options?: RunOptions): Promise<StageResult>;
  readonly memo: () => StoringMemo;
  /** Options of a run that stops after `done` layers. */
  stopAfter(done: number): RunOptions;
}

/** Call it at the top of a test file: it makes and removes its folder by hooks. */
export function useCoarseStage<Params>(plugin: StagePlugin<Params>): CoarseStage {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let memo: StoringMemo;
  let inputs: Record<string, string>;
  const at = (name: string): string => join(folder.path, name);

  beforeAll(async () => {
    folder = await temporaryFolder(`${plugin.name}-stage`);
    memo = storingMemo(folder);
    inputs = await writeCoarseNetwork(folder.path);
  });
  afterAll(() => folder.remove());
  beforeEach(() => memo.forget());

  return {
    at,
    memo: () => memo,
    async run(params = {}, { files = {}, ...options } = {}) {
      const own = Object.fromEntries(Object.entries(files).map(([port, file]) => [port, at(file)]));
      const { outputs, log } = await runStage(plugin, { params, inputs: { ...inputs, ...own }, folder: folder.path, ...options });
      const report = JSON.parse(await readFile(outputs.report ?? '', 'utf8')) as JsonObject;
      const path = outputs.model ?? '';
      return { path, model: path === '' ? Buffer.alloc(0) : await readFile(path), report, log };
    },
    stopAfter(done) {
      const stop = new AbortController();
      return {
        memo: memo.memo,
        signal: stop.signal,
        progress: count => {
          if (count === done) stop.abort(new Error('stopped'));
        },
      };
    },
  };
}

/** Runs the stage on a model of one Relu, whose outputs are `outputs`, or on files of the network. @returns the code of its error. */
export async function refusalOf(
  { at, run }: CoarseStage,
  files: Readonly<Record<string, string>>,
  params: JsonObject,
  outputs: readonly string[] = ['y'],
): Promise<string> {
  const nodes = outputs.map(output => ({ op: 'Relu', in: ['x'], out: [output] }));
  await writeModel(at('relu.onnx'), smallModel({ inputs: { x: ['float32', IMAGE] }, nodes, outputs: [...outputs] }));
  return (await failureOf(() => run(params, { files }))).code;
}

/** A second run computes nothing, and a run that was stopped after two layers goes on behind them. `layer` and `outputs` are the names of its parts. */
export async function expectToResume({ run, memo, stopAfter }: CoarseStage, layer: string, outputs: string): Promise<void> {
  const whole = await run();
  await expect(run({}, stopAfter(2))).rejects.toThrow('stopped');
  expect(memo().computed).toEqual([outputs, layer, layer]);
  memo().forget();
  const resumed = await run({}, { memo: memo().memo });
  expect(memo().computed).toEqual([layer, outputs]);
  expect(resumed.model.equals(whole.model)).toBe(true);
  expect(resumed.report).toEqual(whole.report);
  memo().forget();
  expect((await run({}, { memo: memo().memo })).model.equals(whole.model)).toBe(true);
  expect(memo().computed).toEqual([]);
}
