/** Which integers of a range have a line in its histogram. */
import { chooseGridLines } from '../../../src/web/page/quantization/grid-lines.js';

describe('the lines of the integers', () => {
  it('are all of them where they can be told apart', () => {
    expect(chooseGridLines(15, 440)).toEqual({ every: 1, indexes: Array.from({ length: 16 }, (_, index) => index) });
  });

  it.each([
    [255, 440, 4],
    [255, 1760, 1],
    [65535, 440, 1024],
    [65535, 7040, 64],
  ])('of %d steps in %d pixels are every %dth, at least 5 pixels apart', (steps, width, every) => {
    const lines = chooseGridLines(steps, width);
    expect(lines.every).toBe(every);
    expect((width / steps) * every).toBeGreaterThanOrEqual(5);
    expect(every === 1 || (width / steps) * (every / 2) < 5).toBe(true);
    expect(lines.indexes.length).toBe(Math.floor(steps / every) + 1);
    expect(lines.indexes.at(-1)).toBeLessThanOrEqual(steps);
  });

  it('are none of a range without steps, or without a width', () => {
    expect(chooseGridLines(0, 440).indexes).toEqual([]);
    expect(chooseGridLines(255, 0).indexes).toEqual([]);
    expect(chooseGridLines(255, 1).indexes).toEqual([0]);
  });
});
