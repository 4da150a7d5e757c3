/** The heap of what waits gives the most urgent first, whatever the order in which it came. */
import fc from 'fast-check';
import { createReadyHeap } from '../../../../src/engine/schedule/ready-heap.js';

describe('the heap of ready stages', () => {
  it('always gives the same order as a sorted list', () => {
    fc.assert(
      fc.property(fc.array(fc.option(fc.integer({ min: 0, max: 5 }))), steps => {
        let order = 0;
        const heap = createReadyHeap<{ readonly urgency: number; readonly name: number }>(() => order++);
        let list: { readonly urgency: number; readonly name: number }[] = [];
        for (const [name, urgency] of steps.entries()) {
          if (urgency === null) {
            const [first, ...others] = list;
            expect(heap.peek()?.item).toEqual(first);
            expect(heap.take()).toEqual(first);
            list = others;
          } else {
            heap.add({ urgency, name });
            // Sorting is stable.
            list = [...list, { urgency, name }].sort((a, b) => b.urgency - a.urgency);
          }
        }
      }),
    );
  });
});
