/**
 * Places tensors in a memory arena so that no two live tensors overlap and the arena is small.
 * Greedy by size (Pisarchyk and Lee, arXiv 2001.03288), then hill climbing over the order of placement, as Arm Vela does.
 */
import { alignBytes, areLiveTogether, findBound, type LiveTensor } from './arena.js';

export interface Placement {
  /** In bytes, one per tensor, aligned. */
  readonly offsets: readonly number[];
  /** Size of the arena. */
  readonly bytes: number;
}

/** Up to this number of tensors all orders are tried, so that the result is optimal. */
const MOST_EXACT = 8;
/** Limit of hill climbing, in pairs of tensors that are compared: about a second. */
const CLIMB_STEPS = 40_000_000;

/** The best placement found. It depends on sizes and lifetimes only: equal input gives equal offsets. */
export function placeTensors(tensors: readonly LiveTensor[]): Placement {
  const bound = findBound(tensors).bytes;
  const neighbors = tensors.map((one, i) => tensors.flatMap((other, j) => (i !== j && areLiveTogether(one, other) ? [j] : [])));
  const arena: Arena = { tensors, neighbors, bound };
  const candidates = [bySize(tensors), byStart(tensors), byWidth(arena)].map(order => placeInOrder(arena, order));
  const best = candidates.reduce((least, one) => (one.bytes < least.bytes ? one : least));
  if (best.bytes === bound) return toPlacement(best);
  return toPlacement(tensors.length <= MOST_EXACT ? searchAll(arena, best) : climb(arena, best));
}

interface Arena {
  readonly tensors: readonly LiveTensor[];
  /** For each tensor those that are live together with it. */
  readonly neighbors: readonly (readonly number[])[];
  readonly bound: number;
}

interface Candidate {
  readonly order: readonly number[];
  readonly offsets: Float64Array;
  readonly bytes: number;
}

function toPlacement({ offsets, bytes }: Candidate): Placement {
  return { offsets: [...offsets], bytes };
}

function bySize(tensors: readonly LiveTensor[]): readonly number[] {
  return sortIndices(tensors, (a, b) => b.bytes - a.bytes || a.first - b.first);
}

function byStart(tensors: readonly LiveTensor[]): readonly number[] {
  return sortIndices(tensors, (a, b) => a.first - b.first || b.bytes - a.bytes);
}

/** By the bytes that are live together with the tensor. */
function byWidth({ tensors, neighbors }: Arena): readonly number[] {
  const widths = neighbors.map(list => list.reduce((sum, other) => sum + (tensors[other]?.bytes ?? 0), 0));
  return tensors.map((_, index) => index).sort((a, b) => (widths[b] ?? 0) - (widths[a] ?? 0) || a - b);
}

function sortIndices(tensors: readonly LiveTensor[], compare: (a: LiveTensor, b: LiveTensor) => number): readonly number[] {
  return tensors
    .map((tensor, index) => ({ tensor, index }))
    .sort((a, b) => compare(a.tensor, b.tensor) || a.index - b.index)
    .map(({ index }) => index);
}

/** Every tensor goes to the lowest offset where it overlaps no tensor that was placed before and is live together with it. */
function placeInOrder(arena: Arena, order: readonly number[]): Candidate {
  const offsets = new Float64Array(arena.tensors.length).fill(-1);
  let bytes = 0;
  for (const index of order) {
    const size = alignBytes(arena.tensors[index]?.bytes ?? 0);
    const offset = findLowest(arena, offsets, index, size);
    offsets[index] = offset;
    bytes = Math.max(bytes, offset + size);
  }
  return { order, offsets, bytes };
}

function findLowest({ tensors, neighbors }: Arena, offsets: Float64Array, index: number, size: number): number {
  const taken = (neighbors[index] ?? []).filter(other => (offsets[other] ?? -1) >= 0).sort((a, b) => (offsets[a] ?? 0) - (offsets[b] ?? 0));
  let offset = 0;
  for (const other of taken) {
    const start = offsets[other] ?? 0;
    if (start >= offset + size) break;
    offset = Math.max(offset, start + alignBytes(tensors[other]?.bytes ?? 0));
  }
  return offset;
}

/** An optimal placement pushed down tensor by tensor is the one that some order gives, so that trying all orders finds the optimum. */
function searchAll(arena: Arena, start: Candidate): Candidate {
  let best = start;
  const visit = (order: readonly number[], left: readonly number[]): void => {
    if (best.bytes === arena.bound) return;
    if (left.length === 0) {
      const found = placeInOrder(arena, order);
      if (found.bytes < best.bytes) best = found;
      return;
    }
    for (const next of left) {
      visit(
        [...order, next],
        left.filter(one => one !== next),
      );
    }
  };
  visit(
    [],
    arena.tensors.map((_, index) => index),
  );
  return best;
}

/** Moves tensors at the top of the arena to the front of the order, one at a time, and keeps a step that does not enlarge the arena. */
function climb(arena: Arena, start: Candidate): Candidate {
  const cost = arena.neighbors.reduce((sum, list) => sum + list.length + 1, 0);
  const random = makeSequence();
  let current = start;
  let best = start;
  for (let spent = 0; spent < CLIMB_STEPS && best.bytes > arena.bound; spent += cost) {
    const next = placeInOrder(arena, mutate(arena, current, random));
    if (next.bytes <= current.bytes) current = next;
    if (next.bytes < best.bytes) best = next;
  }
  return best;
}

function mutate(arena: Arena, { order, offsets, bytes }: Candidate, random: (below: number) => number): readonly number[] {
  const top = order.filter(index => (offsets[index] ?? 0) + alignBytes(arena.tensors[index]?.bytes ?? 0) === bytes);
  const chosen = top[random(top.length)] ?? 0;
  const around = arena.neighbors[chosen] ?? [];
  // In one of two steps a neighbor gives way: it is placed last of those around the tensor at the top.
  const moved = random(2) === 0 || around.length === 0 ? chosen : (around[random(around.length)] ?? chosen);
  const rest = order.filter(index => index !== moved);
  const at = random(rest.length + 1);
  return [...rest.slice(0, at), moved, ...rest.slice(at)];
}

/** The linear congruential generator of Numerical Recipes. Its upper bits choose. */
function makeSequence(): (below: number) => number {
  let state = 1;
  return below => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
