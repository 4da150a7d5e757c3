/** Small parts of the page: stages around one, values of parameters from texts, figures side by side. */
import { formatAligned, formatChange } from '../../../src/web/page/parts/figure-format.js';
import { parseLike } from '../../../src/web/page/pipeline/parse-like.js';
import { stagesAround } from '../../../src/web/page/pipeline/stages-around.js';
import { formatPoint } from '../../../src/web/page/runs/point-axes.js';

describe('the stages around one', () => {
  const stage = (id: string, ...dependsOn: readonly string[]) => ({ id, dependsOn });
  const stages = [stage('a'), stage('b', 'a'), stage('c', 'a'), stage('d', 'b', 'c'), stage('e', 'd'), stage('f')];

  it.each([
    ['a', ['a', 'b', 'c', 'd', 'e']],
    ['b', ['a', 'b', 'd', 'e']],
    ['d', ['a', 'b', 'c', 'd', 'e']],
    ['f', ['f']],
  ])('%s are those that it needs and those that need it', (id, expected) => {
    expect(stagesAround(id, stages).map(one => one.id)).toEqual(expected);
  });
});

describe('the text of a parameter', () => {
  it.each([
    ['8', 16, 8],
    ['0.5', 16, 0.5],
    ['', 16, undefined],
    ['x', 16, undefined],
    ['1e999', 16, undefined],
    ['true', false, true],
    ['yes', false, undefined],
    ['8', 'xint8', '8'],
    ['', 'xint8', ''],
  ])('%j for one of %j is %j', (text, like, expected) => expect(parseLike(text, like)).toBe(expected));
});

describe('figures side by side', () => {
  it.each([
    [
      [0.6748, 0.68],
      ['0.6748', '0.6800'],
    ],
    [
      [18.78123, 5.6444],
      ['18.781', '5.644'],
    ],
    [
      [-0.5, 1],
      ['−0.5', '1.0'],
    ],
    [
      [111, 105],
      ['111', '105'],
    ],
    [
      [1.2e-7, 0.5, undefined, 'equal'],
      ['1.20e−7', '0.5', undefined, 'equal'],
    ],
  ] as const)('%j have equal decimals: %j', (figures, expected) => expect(formatAligned(figures)).toEqual(expected));

  it.each([
    [111, 105, '−6'],
    [0, 9, '+9'],
    [0.6748, 0.6758, '+0.00100'],
    [2.201, 2.201, '0'],
  ])('%d and %d differ by %s', (before, after, expected) => expect(formatChange(before, after)).toBe(expected));

  it.each([
    [0.804, 0.802, '−0.2\u202fpp'],
    [0.8, 0.8, '0\u202fpp'],
    [0.99, 1, '+1.0\u202fpp'],
    [0.5, 0.50012, '+0.0120\u202fpp'],
  ])('the shares %d and %d differ by %s', (before, after, expected) => expect(formatChange(before, after, 'share')).toBe(expected));

  it('of the size of models are bytes', () => {
    expect([formatPoint('size', 1_560_000), formatPoint('evaluate.size', 1_560_000)]).toEqual(['1.6 MB', '1.56e6']);
  });
});
