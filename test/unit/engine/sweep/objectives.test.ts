import { makeDiagnosticList } from '../../../../src/engine/model/diagnostic.js';
import type { StageId } from '../../../../src/engine/model/plan.js';
import { findObjectives, type Goal, type Measured } from '../../../../src/engine/sweep/objectives.js';

const [rewritten, int8, other] = ['evaluate-rewritten', 'evaluate-int8', 'other'] as unknown as readonly [StageId, StageId, StageId];

function measured(more: Partial<Measured> = {}): Measured {
  return {
    keys: new Set([`${rewritten}.bbox.AP`, `${int8}.bbox.AP`, 'compile.total.estimatedMs']),
    stages: [rewritten, int8, 'compile' as StageId],
    hasSize: true,
    isAfter: (stage, others) => stage === int8 && others.has(rewritten),
    ...more,
  };
}

const find = (given: readonly Goal[], from = measured()) => {
  const diagnostics = makeDiagnosticList();
  const found = findObjectives(given, from, diagnostics);
  return { keys: found.map(({ key, goal }) => `${goal} ${key}`), diagnostics: diagnostics.items };
};

describe('objectives', () => {
  it('are by default the usual figures that the rows have, of the last of several stages', () => {
    expect(find([]).keys).toEqual([`maximize ${int8}.bbox.AP`, 'minimize compile.total.estimatedMs', 'minimize size']);
  });

  it('a metric of several stages that do not follow one another is by default one objective per stage', () => {
    const keys = new Set([`${int8}.bbox.AP`, `${other}.bbox.AP`]);
    expect(find([], measured({ keys, stages: [int8, other], hasSize: false })).keys).toEqual([
      `maximize ${int8}.bbox.AP`,
      `maximize ${other}.bbox.AP`,
    ]);
  });

  it('a full name selects any stage', () => {
    expect(find([{ metric: `${rewritten}.bbox.AP`, goal: 'maximize' }]).keys).toEqual([`maximize ${rewritten}.bbox.AP`]);
  });

  it('an ambiguous metric is an error with the full names', () => {
    const keys = new Set([`${int8}.bbox.AP`, `${other}.bbox.AP`]);
    expect(find([{ metric: 'bbox.AP', goal: 'maximize' }], measured({ keys, stages: [int8, other] })).diagnostics).toMatchObject([
      { code: 'ambiguous-metric', help: `write ${int8}.bbox.AP or ${other}.bbox.AP` },
    ]);
  });

  it('an unknown metric is an error with the nearest name', () => {
    expect(find([{ metric: 'bbox.PA', goal: 'maximize' }]).diagnostics).toMatchObject([
      { code: 'unknown-metric', help: 'did you mean "bbox.AP"?' },
    ]);
  });

  it('one that resembles none is answered with the headlines first, and how many more there are', () => {
    const many = Array.from({ length: 30 }, (_, i) => `compile.model.count${i}`);
    const keys = new Set([...many, `${int8}.bbox.AP`, `${int8}.delta.bbox.AP`]);
    const [diagnostic] = find([{ metric: 'something', goal: 'maximize' }], measured({ keys })).diagnostics;
    expect(diagnostic?.help).toMatch(/^there is bbox\.AP, delta\.bbox\.AP, model\.count0, .*, and 12 more$/);
  });
});
