/** A heap of waiting items: the most urgent first, equally urgent ones in the order in which they were added. */

export interface Waiting {
  readonly urgency: number;
}

export interface ReadyHeap<T extends Waiting> {
  add(item: T): void;
  /** Returns the most urgent item. `order` is its insertion number. */
  peek(): Ranked<T> | undefined;
  take(): T | undefined;
}

export interface Ranked<T extends Waiting> {
  readonly item: T;
  readonly order: number;
}

export function comesFirst<T extends Waiting>(a: Ranked<T>, b: Ranked<T>): boolean {
  return a.item.urgency === b.item.urgency ? a.order < b.order : a.item.urgency > b.item.urgency;
}

/** @param nextOrder supplies insertion numbers, which break ties. Heaps that share it can be compared. */
export function createReadyHeap<T extends Waiting>(nextOrder: () => number): ReadyHeap<T> {
  /** The children of i are at 2i + 1 and 2i + 2, and come after it. */
  const heap: Ranked<T>[] = [];
  const firstOf = (i: number, j: number): number => {
    const [a, b] = [heap[i], heap[j]];
    return a === undefined || (b !== undefined && comesFirst(b, a)) ? j : i;
  };
  const place = (at: number, ranked: Ranked<T>): void => {
    heap[at] = ranked;
  };
  return {
    add(item) {
      const ranked = { item, order: nextOrder() };
      let at = heap.length;
      for (let above = (at - 1) >> 1; at > 0; above = (at - 1) >> 1) {
        const parent = heap[above];
        if (parent === undefined || comesFirst(parent, ranked)) break;
        place(at, parent);
        at = above;
      }
      place(at, ranked);
    },
    peek: () => heap[0],
    take() {
      const first = heap[0];
      const last = heap.pop();
      if (first === undefined || last === undefined || first === last) return first?.item;
      let at = 0;
      for (;;) {
        const below = firstOf(2 * at + 1, 2 * at + 2);
        const child = heap[below];
        if (child === undefined || comesFirst(last, child)) break;
        place(at, child);
        at = below;
      }
      place(at, last);
      return first.item;
    },
  };
}
