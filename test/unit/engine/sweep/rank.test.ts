/** The front is compared with its definition, on random rows. */
import fc from 'fast-check';
import type { Objective } from '../../../../src/engine/sweep/objectives.js';
import { rankRows } from '../../../../src/engine/sweep/rank.js';
import type { SweepRow } from '../../../../src/engine/sweep/sweep-rows.js';

const AP: Objective = { metric: 'AP', key: 'e.AP', goal: 'maximize' };
const MS: Objective = { metric: 'ms', key: 'c.ms', goal: 'minimize' };
const SIZE: Objective = { metric: 'size', key: 'size', goal: 'minimize' };

function row(number: number, figures: Readonly<Record<string, number>>, more: Partial<SweepRow> = {}): SweepRow {
  const configuration = { number, values: [], assignments: [], settings: [] };
  return {
    configuration,
    status: 'built',
    figures: new Map(Object.entries(figures)),
    headlines: new Set(Object.keys(figures)),
    missed: [],
    sizeBytes: undefined,
    problems: [],
    ...more,
  };
}

const order = (rows: readonly SweepRow[], objectives: readonly Objective[]) =>
  rankRows(rows, objectives).map(({ configuration, onFront }) => `${configuration.number}${onFront ? '*' : ''}`);

describe('the rows of a sweep', () => {
  it('are sorted by the objectives in their order, and the front is marked', () => {
    const rows = [row(1, { 'e.AP': 0.5, 'c.ms': 4 }), row(2, { 'e.AP': 0.6, 'c.ms': 6 }), row(3, { 'e.AP': 0.5, 'c.ms': 5 })];
    expect(order(rows, [AP, MS])).toEqual(['2*', '1*', '3']);
    expect(order(rows, [MS, AP])).toEqual(['1*', '3', '2*']);
    expect(order(rows, [MS])).toEqual(['1*', '3', '2']);
  });

  it('equal rows are both on the front, in the order of their numbers', () => {
    expect(order([row(2, { 'e.AP': 1 }), row(1, { 'e.AP': 1 })], [AP])).toEqual(['1*', '2*']);
  });

  it('a failed row is last and not on the front, even with the best figures', () => {
    const rows = [row(1, { 'e.AP': 0.9 }, { status: 'failed' }), row(2, {}, { status: 'refused' }), row(3, { 'e.AP': 0.1 })];
    expect(order(rows, [AP])).toEqual(['3*', '1', '2']);
  });

  it('a row that misses a gate is ranked by its figures', () => {
    expect(order([row(1, { 'e.AP': 0.9 }, { status: 'gate-missed' }), row(2, { 'e.AP': 0.1 })], [AP])).toEqual(['1*', '2']);
  });

  it('a row without one of the figures is not on the front', () => {
    expect(order([row(1, { 'e.AP': 0.9 }), row(2, { 'e.AP': 0.8, 'c.ms': 1 })], [AP, MS])).toEqual(['1', '2*']);
  });

  it('size is an objective', () => {
    expect(order([row(1, {}, { sizeBytes: 9 }), row(2, {}, { sizeBytes: 8 })], [SIZE])).toEqual(['2*', '1']);
  });

  it('without objectives, nothing is on the front', () => {
    expect(order([row(2, { 'e.AP': 1 }), row(1, {})], [])).toEqual(['1', '2']);
  });

  it('the front holds exactly the rows that no other row dominates', () => {
    const figures = fc.record({ 'e.AP': fc.integer({ min: 0, max: 5 }), 'c.ms': fc.integer({ min: 0, max: 5 }) });
    fc.assert(
      fc.property(fc.array(figures, { minLength: 1, maxLength: 12 }), all => {
        const front = rankRows(
          all.map((one, index) => row(index + 1, one)),
          [AP, MS],
        ).filter(({ onFront }) => onFront);
        const expected = all.flatMap((one, index) => {
          const isDominated = all.some(
            other =>
              other['e.AP'] >= one['e.AP'] && other['c.ms'] <= one['c.ms'] && (other['e.AP'] > one['e.AP'] || other['c.ms'] < one['c.ms']),
          );
          return isDominated ? [] : [index + 1];
        });
        expect(front.map(({ configuration }) => configuration.number).sort((a, b) => a - b)).toEqual(expected);
      }),
    );
  });
});
