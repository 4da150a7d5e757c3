/** Strips of rows, held to a simulation that reads each input row of each output row. */
import fc from 'fast-check';
import { chooseStrips, type RowWork } from '../../../../src/target/memory/row-strips.js';

const anyWork = fc
  .record({
    outputRows: fc.integer({ min: 1, max: 14 }),
    inputRowBytes: fc.integer({ min: 1, max: 9 }),
    outputRowBytes: fc.integer({ min: 1, max: 9 }),
    channels: fc.integer({ min: 1, max: 4 }),
    perChannel: fc.integer({ min: 0, max: 20 }),
    stride: fc.integer({ min: 1, max: 3 }),
    window: fc.integer({ min: 1, max: 4 }),
    padding: fc.integer({ min: 0, max: 1 }),
  })
  .map(({ perChannel, ...work }): RowWork => {
    const padding = Math.min(work.padding, work.window - 1);
    const inputRows = Math.max(1, (work.outputRows - 1) * work.stride + work.window - 2 * padding);
    return { ...work, padding, inputRows, weightBytes: perChannel * work.channels };
  });

/** The least traffic of all strips of equal rows; undefined if none fits. Rows are counted one by one. */
function leastTraffic(work: RowWork, capacity: number): number | undefined {
  let least: number | undefined;
  for (let rows = 1; rows <= work.outputRows; rows++) {
    let [strips, read, most] = [0, 0, 0];
    for (let start = 0; start < work.outputRows; start += rows) {
      const needed = new Set<number>();
      for (let row = start; row < Math.min(work.outputRows, start + rows); row++) {
        for (let k = 0; k < work.window; k++) {
          const at = row * work.stride - work.padding + k;
          if (at >= 0 && at < work.inputRows) needed.add(at);
        }
      }
      // A gap between windows (stride over window) is read too: a strip is one range of rows.
      const span = needed.size === 0 ? 0 : Math.max(...needed) - Math.min(...needed) + 1;
      strips++;
      read += span;
      most = Math.max(most, span);
    }
    const held = most * work.inputRowBytes + rows * work.outputRowBytes;
    const moved = read * work.inputRowBytes + work.outputRows * work.outputRowBytes;
    const candidates = [
      ...(held + work.weightBytes <= capacity ? [moved + work.weightBytes] : []),
      ...(held + work.weightBytes / work.channels <= capacity ? [moved + work.weightBytes * strips] : []),
    ];
    for (const traffic of candidates) least = Math.min(least ?? traffic, traffic);
  }
  return least;
}

describe('strips of rows', () => {
  it('move the fewest bytes of all strips that fit', () => {
    fc.assert(
      fc.property(anyWork, fc.integer({ min: 1, max: 200 }), (work, capacity) => {
        expect(chooseStrips(work, capacity)?.trafficBytes).toBe(leastTraffic(work, capacity));
      }),
      { numRuns: 400 },
    );
  });

  it('read shared rows twice, and weights once while they fit', () => {
    // 8 rows through a 3×3 window with padding 1; 10 bytes per row on both sides, 30 bytes of weights.
    const work = {
      inputRows: 8,
      outputRows: 8,
      inputRowBytes: 10,
      outputRowBytes: 10,
      weightBytes: 30,
      channels: 3,
      stride: 1,
      window: 3,
      padding: 1,
    };
    // Two strips of 4 rows: 5 input rows each.
    expect(chooseStrips(work, 120)).toEqual({ count: 2, rows: 4, weights: 'resident', trafficBytes: 100 + 80 + 30 });
    // Three strips would hold the weights, but read 4 shared rows; one channel at a time, two strips read the weights twice.
    expect(chooseStrips(work, 100)).toEqual({ count: 2, rows: 4, weights: 'streamed', trafficBytes: 100 + 80 + 60 });
    expect(chooseStrips(work, 29)).toBeUndefined();
  });
});
