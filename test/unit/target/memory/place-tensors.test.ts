/** Placement of tensors in an arena, held to a search over all offsets. */
import fc from 'fast-check';
import { ALIGNMENT_BYTES, findBound, type LiveTensor, sumLive } from '../../../../src/target/memory/arena.js';
import { placeTensors } from '../../../../src/target/memory/place-tensors.js';

const anyTensor = fc
  .record({ units: fc.integer({ min: 1, max: 5 }), first: fc.integer({ min: 0, max: 9 }), steps: fc.integer({ min: 0, max: 5 }) })
  .map(({ units, first, steps }): LiveTensor => ({ bytes: units * ALIGNMENT_BYTES, first, last: first + steps }));

/** Step by step and byte by byte, in units of the alignment: whether no byte has two live tensors. */
function overlaps(tensors: readonly LiveTensor[], offsets: readonly number[]): boolean {
  const taken = new Set<string>();
  for (const [index, { bytes, first, last }] of tensors.entries()) {
    for (let step = first; step <= last; step++) {
      for (let at = offsets[index] ?? 0; at < (offsets[index] ?? 0) + bytes; at += ALIGNMENT_BYTES) {
        const key = `${step} ${at}`;
        if (taken.has(key)) return true;
        taken.add(key);
      }
    }
  }
  return false;
}

/** Whether the tensors fit into `size` units: every offset of every tensor is tried. */
function fitsInto(tensors: readonly LiveTensor[], size: number): boolean {
  const placed: { tensor: LiveTensor; offset: number }[] = [];
  const place = (index: number): boolean => {
    const tensor = tensors[index];
    if (tensor === undefined) return true;
    const length = tensor.bytes / ALIGNMENT_BYTES;
    for (let offset = 0; offset + length <= size; offset++) {
      const isFree = placed.every(
        ({ tensor: other, offset: at }) =>
          other.last < tensor.first || tensor.last < other.first || at + other.bytes / ALIGNMENT_BYTES <= offset || offset + length <= at,
      );
      if (!isFree) continue;
      placed.push({ tensor, offset });
      if (place(index + 1)) return true;
      placed.pop();
    }
    return false;
  };
  return place(0);
}

describe('an arena', () => {
  it('has no overlapping live tensors, and is between its bound and the sum of all sizes', () => {
    fc.assert(
      fc.property(fc.array(anyTensor, { maxLength: 40 }), tensors => {
        const { offsets, bytes } = placeTensors(tensors);
        expect(overlaps(tensors, offsets)).toBe(false);
        expect(bytes).toBeGreaterThanOrEqual(findBound(tensors).bytes);
        expect(bytes).toBeLessThanOrEqual(tensors.reduce((sum, tensor) => sum + tensor.bytes, 0));
        expect(bytes).toBe(Math.max(0, ...tensors.map((tensor, index) => (offsets[index] ?? 0) + tensor.bytes)));
      }),
      { numRuns: 60 },
    );
  });

  it('is as small as any arena of up to 8 tensors', () => {
    fc.assert(
      fc.property(fc.array(anyTensor, { minLength: 1, maxLength: 8 }), tensors => {
        const size = placeTensors(tensors).bytes / ALIGNMENT_BYTES;
        expect(fitsInto(tensors, size)).toBe(true);
        expect(fitsInto(tensors, size - 1)).toBe(false);
      }),
      { numRuns: 300 },
    );
  });

  it('aligns tensors of any size', () => {
    const tensors = [1, 65, 200].map(bytes => ({ bytes, first: 0, last: 0 }));
    const { offsets, bytes } = placeTensors(tensors);
    expect([...offsets].sort((a, b) => a - b)).toEqual([0, 256, 384]);
    expect(bytes).toBe(448);
    expect(findBound(tensors).bytes).toBe(448);
  });

  it('reaches the bound by climbing where no greedy order does', () => {
    // Found by search: placed by size, by start and by width the arena has 16 units; the bound is 15.
    const tensors = CLIMBING.map(([units, first, last]) => ({ bytes: units * ALIGNMENT_BYTES, first, last }));
    expect(tensors.length).toBeGreaterThan(8);
    expect(placeTensors(tensors).bytes).toBe(15 * ALIGNMENT_BYTES);
    expect(findBound(tensors).bytes).toBe(15 * ALIGNMENT_BYTES);
  });

  it('is the same in every run', () => {
    const tensors = CLIMBING.map(([units, first, last]) => ({ bytes: units * ALIGNMENT_BYTES, first, last }));
    expect(placeTensors(tensors)).toEqual(placeTensors(tensors));
  });
});

describe('the bound', () => {
  it('is the largest sum of live sizes, and names the first step that has it', () => {
    const tensors = [
      { bytes: 64, first: 0, last: 2 },
      { bytes: 128, first: 1, last: 1 },
      { bytes: 128, first: 2, last: 3 },
    ];
    expect(sumLive(tensors)).toEqual([64, 192, 192, 128]);
    expect(findBound(tensors)).toEqual({ bytes: 192, step: 1 });
    expect(findBound([])).toEqual({ bytes: 0, step: 0 });
  });
});

const CLIMBING: readonly (readonly [units: number, first: number, last: number])[] = [
  [4, 7, 11],
  [4, 10, 11],
  [2, 2, 3],
  [4, 2, 5],
  [5, 5, 10],
  [3, 6, 9],
  [1, 5, 8],
  [3, 4, 6],
  [2, 10, 13],
];
