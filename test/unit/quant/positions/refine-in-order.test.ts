/** refine: quark against the positions that AMD's own code gives. */
import { readFileSync } from 'node:fs';
import { planQuantization } from '../../../../src/quant/placement/plan-quantization.js';
import { findPositionProblem } from '../../../../src/quant/positions/find-problem.js';
import { refineInOrder } from '../../../../src/quant/positions/refine-in-order.js';
import { DEFAULT_OP_TYPES, PRESETS } from '../../../../src/quant/scheme/scheme.js';
import { fixturePath } from '../../../support/fixtures.js';
import { dpuLimits, positionGraph } from '../../../support/position-graphs.js';

/** [before, after] by the name of the scale. */
type Recorded = Readonly<Record<string, readonly [number, number]>>;
const { graphs } = JSON.parse(readFileSync(fixturePath('quant/quark-positions.json'), 'utf8')) as {
  readonly graphs: Readonly<Record<string, Recorded>>;
};

describe('refine: quark', () => {
  const scheme = { ...PRESETS.xint8, opTypes: [...DEFAULT_OP_TYPES, 'Sub', 'HardSigmoid'] };

  it.each(Object.entries(graphs))('gives the positions of AMD Quark on graph %s', (seed, recorded) => {
    const { model, observations } = positionGraph(Number(seed), {
      nodes: 4 + (Number(seed) % 12),
      spread: [4, 8, 12][Number(seed) % 3] ?? 4,
    });
    const plan = planQuantization(model.graph, { scheme, observations, excluded: new Set() });
    const problem = findPositionProblem(model.graph, plan, { limits: dpuLimits(), observations, settings: new Map() });
    const { positions } = refineInOrder(problem);
    const found = problem.variables.map(({ name, role, start }, index) => [
      `${name}${role === 'bias' ? '_quantized' : ''}_scale`,
      [start, positions[index]],
    ]);
    expect(Object.fromEntries(found)).toEqual(recorded);
  });

  it('the graphs move positions, some of them in all five rounds', () => {
    const moved = Object.values(graphs).map(recorded => Object.values(recorded).filter(([before, after]) => before !== after).length);
    expect(moved.filter(count => count > 0).length).toBeGreaterThan(50);
    expect(Math.max(...moved)).toBeGreaterThan(15);
  });
});
