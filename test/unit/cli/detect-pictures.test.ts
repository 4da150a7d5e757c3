/** The natural order of picture names, and the mean step times without the first picture. */
import { compareNames } from '../../../src/cli/commands/detect/list-pictures.js';
import { summarizeTimes } from '../../../src/cli/commands/detect/step-times.js';

describe('the order of frames', () => {
  it.each([
    ['f1.png', 'f9.png', 'f10.png'],
    ['f1.png', 'f09.png', 'f10.png'],
    ['a/1.png', 'a/2.png', 'b/1.png'],
    ['x1y99', 'x2y9', 'x2y10'],
    ['9', '10', 'frame'],
    ['', '1', '1a'],
  ])('%s, %s, %s', (...names) => {
    expect([...names].reverse().sort(compareNames)).toEqual(names);
    for (const [index, a] of names.entries())
      for (const [other, b] of names.entries()) expect(Math.sign(compareNames(a, b))).toBe(Math.sign(index - other));
  });

  it('is defined for equal numbers with different leading zeros, and does not depend on the argument order', () => {
    const order = compareNames('f1.png', 'f01.png');
    expect([order === 0, compareNames('f01.png', 'f1.png')]).toEqual([false, -order]);
  });
});

describe('times of steps', () => {
  const picture = (decode: number, backbone: number) => [
    { step: 'decode', ms: decode, runs: 1 },
    { step: 'backbone', ms: backbone, runs: 1 },
  ];

  it('are means over all pictures except the first, which is the warm-up', () => {
    expect(summarizeTimes([picture(100, 100), picture(1, 3), picture(3, 13)])).toEqual({
      pictures: 2,
      msPerPicture: 10,
      picturesPerSecond: 100,
      steps: [
        { step: 'decode', ms: 2 },
        { step: 'backbone', ms: 8 },
      ],
    });
  });

  it('of a single picture are its own times; without pictures they are absent', () => {
    expect(summarizeTimes([picture(4, 6)])).toMatchObject({ pictures: 1, msPerPicture: 10 });
    expect(summarizeTimes([])).toBeUndefined();
  });
});
