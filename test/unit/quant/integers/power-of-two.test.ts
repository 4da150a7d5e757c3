/** Positions of power-of-two scales. */
import { findPosition, nearestPosition, positionNotBelow, scaleAt } from '../../../../src/quant/integers/power-of-two.js';
import { coveredRange, middleOf } from '../../../../src/quant/integers/qparams.js';

describe('positions of power-of-two scales', () => {
  it.each([
    [1, 0, 0],
    [0.5, 1, 1],
    [0.70710677, 1, 0],
    [0.70710679, 0, 0],
    [2 / 255, 7, 6],
    [1 / 127, 7, 6],
    [3, -2, -2],
    [2 ** -126, 126, 126],
    [2 ** 127, -127, -127],
  ])('%p: nearest position %p, position not below %p', (scale, nearest, notBelow) => {
    expect([nearestPosition(scale), positionNotBelow(scale)]).toEqual([nearest, notBelow]);
  });

  it('every position is recovered from its scale, and other scales have none', () => {
    for (let position = -127; position <= 126; position++) {
      expect(findPosition(scaleAt(position))).toBe(position);
      expect(nearestPosition(scaleAt(position))).toBe(position);
      expect(positionNotBelow(scaleAt(position))).toBe(position);
      expect(Math.fround(scaleAt(position))).toBe(scaleAt(position));
    }
    expect(findPosition(0.3)).toBeUndefined();
    expect(findPosition(Math.fround(1 / 255))).toBeUndefined();
  });
});

describe('the covered range', () => {
  it.each([
    ['int8', 0],
    ['uint8', 128],
    ['int16', 0],
    ['uint16', 32768],
  ] as const)('zero of symmetric %s is %p', (dtype, middle) => {
    expect(middleOf({ dtype, symmetric: true, reduceRange: false })).toBe(middle);
  });

  it('covers all integers of the type', () => {
    expect(coveredRange({ scale: 0.5, zeroPoint: 128 }, 'uint8')).toEqual({ low: -64, high: 63.5 });
    expect(coveredRange({ scale: 2, zeroPoint: 0 }, 'int8')).toEqual({ low: -256, high: 254 });
  });
});
