/**
 * Networks as PyTorch exports them (own_…: small ones that were written for this project) go through import, simplify, calibrate, quantize and compile. Oracles: the values whose shapes onnx 1.23 infers, the nodes
 * that ONNX Runtime 1.30 leaves at its basic level, and the outputs that ONNX Runtime computes for the network as exported (the proofs of the stages).
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { sortTopologically } from '../../src/onnx/ir/sort.js';
import type { Pass } from '../../src/onnx/passes/pass.js';
import { SIMPLIFY_PASSES, simplifyToFixedPoint } from '../../src/onnx/passes/simplify.js';
import { evaluate } from '../../src/runtime/session/evaluate.js';
import type { WildRun } from '../support/play-wild.js';
import { strideOfPoints } from '../support/rounds.js';
import { listWildModels, readWildFacts, readWildModel } from '../support/wild-models.js';
import { DIST } from '../support/world.js';

/** The processor time that one network may take, from the file to its bundle. */
const LIMIT_SECONDS = 60;

const facts = readWildFacts();
const played = listWildModels().filter((_, index) => index % strideOfPoints() === 0);

it.each(played)('%s is checked, imported, simplified, quantized and compiled', name => {
  const program = join(DIST, 'test/support/play-wild.js');
  const { valuesWithShape, nodes, compiledNodes, secondsByStage } = JSON.parse(
    execFileSync(process.execPath, [program, name], { encoding: 'utf8' }),
  ) as WildRun;
  expect(valuesWithShape).toBeGreaterThanOrEqual(facts[name]?.valuesWithShapeByOnnx ?? Number.POSITIVE_INFINITY);
  expect(nodes).toBeLessThanOrEqual(facts[name]?.onnxruntimeBasicNodes ?? 0);
  expect(compiledNodes).toBeGreaterThan(0);
  expect(Object.values(secondsByStage).reduce((sum, seconds) => sum + seconds, 0)).toBeLessThan(LIMIT_SECONDS);
});

describe('the order of the passes', () => {
  it.each([
    'own_yolov8.ts',
    'timm_fastvit_t8.ts',
    'tv_raft_small.ts',
    'tv_retinanet_resnet50_fpn.ts',
    'tv_shufflenet_v2_x1_0.ts',
    'tv_swin_t.dynamo',
  ])('does not change which operators are left of %s', async name => {
    const operatorsLeft = async (passes: readonly Pass[]): Promise<readonly string[]> => {
      const model = readWildModel(name);
      sortTopologically(model.graph);
      await simplifyToFixedPoint(model, { evaluate, foldLimitBytes: 1 << 20, check: () => [], passes });
      return [...model.graph.nodes.values()].map(({ opType }) => opType).sort();
    };
    const odd = SIMPLIFY_PASSES.filter((_, index) => index % 2 === 1);
    const wanted = await operatorsLeft(SIMPLIFY_PASSES);
    expect(await operatorsLeft([...SIMPLIFY_PASSES].reverse())).toEqual(wanted);
    expect(await operatorsLeft([...odd, ...SIMPLIFY_PASSES.filter(pass => !odd.includes(pass))])).toEqual(wanted);
  });
});
