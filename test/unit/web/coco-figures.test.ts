import { findCocoFigure } from '../../../src/web/page/parts/coco-figures.js';

describe('a figure of COCO', () => {
  it.each([
    [0.5, 0.5],
    [0, 0],
    // The evaluation writes −1 where the data set has no such objects: it is no accuracy.
    [-1, undefined],
    ['0.5', undefined],
    [undefined, undefined],
  ])('%j is shown as %j', (value, expected) =>
    expect(findCocoFigure({ bbox: value === undefined ? {} : { APsmall: value } }, 'bbox', 'APsmall')).toBe(expected));

  it('of a kind that was not evaluated is absent', () => expect(findCocoFigure({ segm: 3 }, 'segm', 'AP')).toBe(undefined));
});
