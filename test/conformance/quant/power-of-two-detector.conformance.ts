/** The detector with power-of-two scales gives the same bytes with and without ONNX Runtime's optimization wherever every sum is provably exact. */

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getDefined } from '../../../src/base/invariant.js';
import type { JsonObject } from '../../../src/base/json.js';
import { MASKRCNN_PARTS, type MaskRcnnPart } from '../../../src/detection/families/maskrcnn/part-names.js';
import { getValue } from '../../../src/onnx/ir/edit.js';
import type { Model } from '../../../src/onnx/ir/model.js';
import { encodeModel } from '../../../src/onnx/serde/encode-model.js';
import { readModel } from '../../../src/onnx/serde/model-file.js';
import { extractSubgraph } from '../../../src/onnx/surgery/extract.js';
import { boundAccumulators } from '../../../src/quant/exact/accumulator-bounds.js';
import { parseProfile } from '../../../src/runtime/measure/profile.js';
import type { NamedTensors } from '../../../src/runtime/session/model-inputs.js';
import { openSession, type SessionOptions } from '../../../src/runtime/session/session.js';
import { readNpz } from '../../../src/tensor/formats/npz.js';
import { calibrate } from '../../../stages/calibrate/stage.js';
import { quantize } from '../../../stages/quantize/stage.js';
import { recordedFeeds } from '../../support/detector-parts.js';
import { listQuantizedSteps, type QuantizedStep } from '../../support/quantized-steps.js';
import { differingOutputs } from '../../support/run-parts.js';
import { givenFolder, runStage } from '../../support/run-stage.js';
import { writeShapesParts } from '../../support/shapes-parts.js';
import { findSharedFolder } from '../../support/shared-folder.js';
import { storingMemo } from '../../support/storing-memo.js';

const shared = findSharedFolder();
const suite = shared === undefined ? describe.skip : describe;
type Level = SessionOptions['optimization'];
const OPTIMIZED: readonly Level[] = ['basic', 'extended', 'all'];

/** Operators without sums that are exact on dequantized integers: they select or move values. */
const NO_SUMS = [
  'Relu',
  'Clip',
  'MaxPool',
  'Concat',
  'Resize',
  'Reshape',
  'Flatten',
  'Transpose',
  'Squeeze',
  'Unsqueeze',
  'Slice',
  'Identity',
];
const SUMS = ['Conv', 'ConvTranspose', 'Gemm', 'MatMul', 'Add', 'Sub', 'Mul'];

async function run(model: Model, feeds: NamedTensors, optimization: Level): Promise<NamedTensors> {
  const session = await openSession(encodeModel(model), { optimization });
  try {
    return await session.run(feeds);
  } finally {
    await session.close();
  }
}

/** Why float32 may round in the step; undefined if it does not. */
function whyOpen({ model, opTypes }: QuantizedStep): string | undefined {
  const other = opTypes.find(opType => !NO_SUMS.includes(opType) && !SUMS.includes(opType));
  if (other !== undefined) return `${other} rounds`;
  return boundAccumulators(model).find(({ exactInFloat }) => !exactInFloat)?.reason;
}

suite('the trained detector with power-of-two scales', () => {
  const folder = givenFolder('power-of-two');
  let feeds: NamedTensors;
  const models = new Map<string, Model>();

  const PRESETS: Readonly<Record<string, JsonObject>> = {
    xint8: { preset: 'xint8' },
    'xint8, biases in sums': { preset: 'xint8', bias: { dtype: 'int32', scale: 'product' } },
    'xint8, wide biases': { preset: 'xint8', bias: { dtype: 'int32' } },
  };

  beforeAll(async () => {
    const shapes = await writeShapesParts(folder.path);
    const { memo } = storingMemo(folder);
    for (const part of MASKRCNN_PARTS) {
      const inputs = {
        model: shapes.parts[part],
        recipe: shapes.recipePath,
        config: shapes.configPath,
        data: shapes.calib,
        detector: shapes.parts,
      };
      const calibrated = await runStage(calibrate, { params: { part, samples: 4 }, inputs, folder: folder.path, memo });
      for (const [name, params] of Object.entries(PRESETS)) {
        const { outputs } = await runStage(quantize, {
          params,
          inputs: { model: shapes.parts[part], sketches: calibrated.outputs.sketches ?? '' },
          folder: folder.path,
        });
        models.set(`${name} ${part}`, await readModel(outputs.model ?? ''));
      }
    }
    feeds = recordedFeeds(await readNpz(join(shared ?? '', 'shapes/maskrcnn/stages_1000.npz')));
  }, 300_000);

  const modelOf = (name: string, part: MaskRcnnPart): { model: Model; given: NamedTensors; inputs: readonly string[] } => {
    const model = getDefined(models.get(`${name} ${part}`), part);
    const inputs = model.graph.inputs.map(id => getValue(model.graph, id).name);
    return { model, inputs, given: pick(feeds, inputs) };
  };

  /** Each step on its own, on the integers of the run without optimization. */
  async function compareSteps(name: string, part: MaskRcnnPart): Promise<{ held: number; differing: string[]; open: string[] }> {
    const { model, given, inputs } = modelOf(name, part);
    const steps = listQuantizedSteps(model);
    const integers = await run(extractSubgraph(model, { inputs, outputs: steps.map(({ output }) => output) }), given, 'disabled');
    const differing: string[] = [];
    const open: string[] = [];
    for (const step of steps) {
      const own = pick({ ...given, ...integers }, step.inputs);
      const plain = await run(step.model, own, 'disabled');
      const changed: string[] = [];
      for (const level of OPTIMIZED) if (differingOutputs(plain, await run(step.model, own, level)).length > 0) changed.push(level);
      const reason = whyOpen(step);
      const what = `${step.output} (${step.opTypes.join(' ')})`;
      if (reason !== undefined) open.push(`${what}: ${reason}${changed.length === 0 ? '' : `; differs at ${changed.join(', ')}`}`);
      else if (changed.length > 0) differing.push(`${what} at ${changed.join(', ')}`);
    }
    return { held: steps.length - open.length - differing.length, differing, open };
  }

  const CASES = ['xint8', 'xint8, biases in sums'].flatMap(name => MASKRCNN_PARTS.map(part => [name, part] as const));
  const STEPS: Readonly<Record<MaskRcnnPart, number>> = { backbone: 62, box_head: 9, mask_head: 7 };

  it.each(CASES)('%s: every sum of %s is exact, and every step gives equal bytes at every level', async (name, part) => {
    expect(await compareSteps(name, part)).toEqual({ held: STEPS[part], differing: [], open: [] });
  });

  it.each(CASES)('%s: the whole of %s gives equal bytes at every level', async (name, part) => {
    const { model, given } = modelOf(name, part);
    const plain = await run(model, given, 'disabled');
    for (const level of OPTIMIZED)
      expect({ level, differing: differingOutputs(plain, await run(model, given, level)) }).toEqual({ level, differing: [] });
  });

  it('float arithmetic is compared with integer arithmetic', async () => {
    const { model, given } = modelOf('xint8, biases in sums', 'backbone');
    expect(await listOperators(model, given, 'disabled')).toContain('Conv');
    const optimized = await listOperators(model, given, 'all');
    expect(optimized).toContain('QLinearConv');
    expect(optimized).not.toContain('Conv');
  });

  // A bias with 32 bits has a smaller scale than the products: the sums, in its units, exceed 2²⁴.
  it.each(
    MASKRCNN_PARTS,
  )('with biases of 32 bits and scales of their own, layers of %s with a bias are listed, and all others are equal', async part => {
    const { held, differing, open } = await compareSteps('xint8, wide biases', part);
    process.stderr.write(`layers of ${part} whose sums may be rounded:\n${open.join('\n')}\n`);
    expect({ steps: held + open.length, differing }).toEqual({ steps: STEPS[part], differing: [] });
    expect(open.length).toBeGreaterThan(0);
    expect(open.filter(line => !/(Conv|ConvTranspose|Gemm)\): a sum can reach 2²⁴/.test(line))).toEqual([]);
  });

  /** Operators in ONNX Runtime's profile of one run. */
  async function listOperators(model: Model, given: NamedTensors, optimization: Level): Promise<readonly string[]> {
    const profilePrefix = join(folder.path, `profile-${optimization}`);
    const session = await openSession(encodeModel(model), { optimization, quantized: 'fused', profilePrefix });
    await session.run(given);
    await session.close();
    const file = getDefined(
      (await readdir(folder.path)).find(name => name.startsWith(`profile-${optimization}_`)),
      'the profile',
    );
    const { operators } = parseProfile(await readFile(join(folder.path, file), 'utf8'), { warmup: 0, runs: 1 });
    return operators.map(({ opType }) => opType);
  }
});

function pick(tensors: NamedTensors, names: readonly string[]): NamedTensors {
  return Object.fromEntries(names.map(name => [name, getDefined(tensors[name], name)]));
}
