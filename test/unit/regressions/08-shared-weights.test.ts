/** Weights that several levels share: one position of the weight must suit all of them at once. Quark's order adapts it to one level after the other. */
import { ints } from '../../../src/onnx/ir/attribute.js';
import type { Model, ValueId } from '../../../src/onnx/ir/model.js';
import { planQuantization } from '../../../src/quant/placement/plan-quantization.js';
import { refinePositions } from '../../../src/quant/positions/refine-positions.js';
import { insertQdq } from '../../../src/quant/qdq/insert-qdq.js';
import type { Observation } from '../../../src/quant/range/range-method.js';
import { PRESETS } from '../../../src/quant/scheme/scheme.js';
import { evaluate } from '../../../src/runtime/session/evaluate.js';
import { compileModel } from '../../../src/target/compile-model.js';
import { chooseTarget, getBuiltInProfile } from '../../../src/target/profile/choose-target.js';
import { dpuLimits } from '../../support/position-graphs.js';
import { smallGraph } from '../quant/small-graph.js';

const LEVELS = 5;

/** An RPN head on five levels, whose inputs and outputs have very different sizes. */
function head(): { readonly model: Model; readonly observations: ReadonlyMap<ValueId, Observation> } {
  const small = smallGraph();
  small.floats('w', [2, 2, 1, 1], [0.5, -0.25, 0.125, 0.4]);
  small.floats('b', [2], [0.1, -0.2]);
  const sizes = new Map<string, number>();
  for (let level = 0; level < LEVELS; level++) {
    small.input(`p${level}`, [1, 2, 4, 4]);
    small.node(`Conv p${level} w b -> y${level}`, { kernel_shape: ints([1, 1]) });
    small.output(`y${level}`);
    // Level 0 shifts too far to the right, level 4 to the left.
    sizes.set(`p${level}`, 2 ** (-5 + 3 * level)).set(`y${level}`, 2 ** (8 - 4 * level));
  }
  const observations = new Map(
    [...small.model.graph.values.values()]
      .filter(({ constant }) => constant === undefined)
      .map(({ id, name }): [ValueId, Observation] => {
        const size = sizes.get(name) ?? 1;
        return [id, { kind: 'known', range: { low: -size, high: size } }];
      }),
  );
  return { model: small.model, observations };
}

/** The shift rules that `compile` finds violated. */
async function violated(method: 'none' | 'quark' | 'joint'): Promise<readonly string[]> {
  const { model, observations } = head();
  const request = { scheme: PRESETS.xint8, observations, excluded: new Set<never>() };
  const plan = planQuantization(model.graph, request);
  const found =
    method === 'none' ? undefined : refinePositions(model.graph, plan, method, { limits: dpuLimits(), observations, settings: new Map() });
  const { positions } = found ?? {};
  insertQdq(model, positions === undefined ? plan : planQuantization(model.graph, { ...request, positions }), 'ai.onnx');
  const target = chooseTarget(getBuiltInProfile('ryzen-ai'), { dtype: 'xint8' });
  const { report } = await compileModel('head', model, target, { evaluate, undocumented: 'cpu', largerBatch: 'cpu', accept: 'any' });
  return report.units.flatMap(unit =>
    unit.findings.filter(({ rule }) => rule.startsWith('shift-')).map(({ rule }) => `${unit.name} ${rule}`),
  );
}

describe('a head whose weights serve five levels', () => {
  it('has shifts out of bounds without refinement', async () => expect((await violated('none')).length).toBeGreaterThan(1));

  it('keeps some in the order of AMD Quark, which adapts the weight to one level after the other', async () =>
    expect((await violated('quark')).length).toBeGreaterThan(0));

  it('has all five levels within bounds after a joint solution, as compile judges it', async () =>
    expect(await violated('joint')).toEqual([]));
});
