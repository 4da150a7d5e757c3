/** The quantizing stages on one network whose file lists its nodes in different orders: the results compute the same. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import type { JsonObject } from '../../../src/base/json.js';
import { digestModelContent } from '../../../src/onnx/analysis/content-digest.js';
import type { Model, Node } from '../../../src/onnx/ir/model.js';
import { readModel, writeModel } from '../../../src/onnx/serde/model-file.js';
import type { StagePlugin } from '../../../src/stage/define-stage.js';
import { encodeNpz } from '../../../src/tensor/formats/npz.js';
import { calibrate } from '../../../stages/calibrate/stage.js';
import { capture } from '../../../stages/capture/stage.js';
import { correctBiases } from '../../../stages/correct-biases/stage.js';
import { quantize } from '../../../stages/quantize/stage.js';
import { roundWeights } from '../../../stages/round-weights/stage.js';
import { searchRanges } from '../../../stages/search-ranges/stage.js';
import { widenTypes } from '../../../stages/widen-types/stage.js';
import { givenFolder, runStage } from '../../support/run-stage.js';
import { randomConstant, randomFloats, smallModel } from '../../support/small-model.js';

const IMAGE = [1, 3, 6, 6];

/** Two branches of two layers each behind a first one, joined before the last. */
const network = (): Model =>
  smallModel({
    inputs: { x: ['float32', IMAGE] },
    constants: Object.fromEntries(
      ['first', 'a1', 'a2', 'b1', 'b2', 'last'].flatMap((name, i) => [
        [`${name}_w`, randomConstant([4, name === 'first' ? 3 : 4, 1, 1], 2 * i)],
        [`${name}_b`, randomConstant([4], 2 * i + 1)],
      ]),
    ),
    nodes: [
      ...conv('first', 'x'),
      ...conv('a1', 'first'),
      ...conv('a2', 'a1'),
      ...conv('b1', 'first'),
      ...conv('b2', 'b1'),
      { op: 'Add', name: 'sum', in: ['a2', 'b2'], out: ['s'] },
      { op: 'Conv', name: 'last', in: ['s', 'last_w', 'last_b'], out: ['y'] },
    ],
    outputs: ['y'],
  });

function conv(name: string, input: string) {
  return [
    { op: 'Conv', name, in: [input, `${name}_w`, `${name}_b`], out: [`${name}_c`] },
    { op: 'Relu', name: `${name}_relu`, in: [`${name}_c`], out: [name] },
  ];
}

/** Places the nodes in the topological order that the choices lead to. */
function reorder({ graph }: Model, choices: readonly number[]): void {
  const left = [...graph.nodes.values()];
  const placed: Node[] = [];
  const isReady = ({ inputs }: Node): boolean => !left.some(other => other.outputs.some(id => id !== undefined && inputs.includes(id)));
  for (let step = 0; left.length > 0; step++) {
    const ready = left.filter(isReady);
    const next = ready[(choices[step] ?? 0) % ready.length] as Node;
    left.splice(left.indexOf(next), 1);
    placed.push(next);
  }
  graph.nodes.clear();
  for (const node of placed) graph.nodes.set(node.id, node);
}

const folder = givenFolder('order-of-nodes');
let captured: string;
const at = (name: string): string => join(folder.path, name);

beforeAll(async () => {
  await mkdir(at('tensors'));
  await writeModel(at('float.onnx'), network());
  for (const seed of [1, 2, 3, 4]) await writeFile(at(`tensors/${seed}.npz`), encodeNpz(new Map([['x', randomFloats(IMAGE, seed)]])));
  const inputs = { model: at('float.onnx'), tensors: at('tensors') };
  captured = (await runStage(capture, { params: { of: 'model' }, inputs, folder: folder.path })).outputs.captured ?? '';
});

/** The content digests behind each stage, and the order of the layers in the file. */
async function digestsOf(choices: readonly number[]) {
  const model = network();
  reorder(model, choices);
  const float = at('ordered.onnx');
  await writeModel(float, model);
  const run = async <Params>(stage: StagePlugin<Params>, params: JsonObject, inputs: Record<string, string>): Promise<string> =>
    (await runStage(stage, { params, inputs, folder: folder.path })).outputs.model ?? '';
  const { outputs } = await runStage(calibrate, { params: {}, inputs: { model: float, captured }, folder: folder.path });
  const narrow = await run(quantize, { preset: 'xint8' }, { model: float, sketches: outputs.sketches ?? '' });
  const results = [narrow];
  for (const method of ['gptq', 'adaround']) {
    const rounded = await run(roundWeights, { method, iterations: 20 }, { model: narrow, float, captured });
    results.push(rounded, await run(correctBiases, {}, { model: rounded, float, captured }));
  }
  const calibrated = { model: float, sketches: outputs.sketches ?? '' };
  for (const [stage, params] of [
    [searchRanges, { quantize: { preset: 'xint8' }, layers: 2 }],
    [widenTypes, { quantize: { preset: 'a8w8' }, constraint: { share: 0.4 } }],
  ] as const) {
    const found = await runStage<unknown>(stage as StagePlugin<unknown>, {
      params,
      inputs: { ...calibrated, captured },
      folder: folder.path,
    });
    results.push(await run(quantize, params.quantize, { ...calibrated, overrides: found.outputs.overrides ?? '' }));
  }
  const digests = [];
  for (const path of results) digests.push(digestModelContent(await readModel(path)));
  return { digests, layers: [...model.graph.nodes.values()].map(({ name }) => name).join(' ') };
}

it('every topological order of the file gives the same integers, scales and biases', async () => {
  const first = await digestsOf([]);
  const orders = new Set([first.layers]);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(3), { minLength: 12, maxLength: 12 }), async choices => {
      const { digests, layers } = await digestsOf(choices);
      orders.add(layers);
      expect(digests).toEqual(first.digests);
    }),
    { numRuns: 3, seed: 7, endOnFailure: true },
  );
  expect(orders.size).toBeGreaterThan(2);
}, 600_000);
