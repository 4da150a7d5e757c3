/** The tensors whose ranges a search may change, block by block, and the ranges that it tries. */
import { nearestPosition, POSITIONS, scaleAt } from '../integers/power-of-two.js';
import { storageRange } from '../integers/quantized-dtype.js';
import type { ActivationEntry, QuantizationReport, WeightEntry } from '../report/report-entries.js';
import type { SteppedModels } from '../sensitivity/find-steps.js';
import type { RangeOverride } from '../widening/widened-types.js';
import type { SearchBlock } from './search-blocks.js';

/** A tensor with a range of its own. */
export interface SearchedTensor {
  readonly name: string;
  readonly role: 'activation' | 'weight';
  readonly scales: 'powers-of-two' | 'any';
  /**
   * The range `moves` away from that of `quantize`, as `quantize` takes it; undefined if there is none. Negative ones are narrower.
   * A power of two moves by a position, any other range by a twentieth of its width.
   */
  at(moves: number): RangeOverride | undefined;
}

/** Per block, in the order of its steps: weights before the value that they compute. */
export interface SearchedTensors {
  readonly byBlock: readonly (readonly SearchedTensor[])[];
  /** Tensors with several readers in different blocks, and rows with the parameters of a constant table. */
  readonly skipped: readonly string[];
}

export interface TensorRequest {
  readonly models: SteppedModels;
  readonly blocks: readonly SearchBlock[];
  readonly report: QuantizationReport;
  readonly weights: boolean;
}

export function findSearchedTensors({ models, blocks, report, weights }: TensorRequest): SearchedTensors {
  const places = placeTensors(models, blocks);
  const skipped: string[] = [];
  const found: (readonly [block: number, place: number, SearchedTensor])[] = [];
  const take = (names: readonly string[], tensor: SearchedTensor): void => {
    const own = names.flatMap(name => places.get(name) ?? []);
    const [first] = own;
    if (first === undefined) return;
    if (own.some(({ block }) => block !== first.block)) skipped.push(tensor.name);
    else found.push([first.block, first.place, tensor]);
  };
  for (const entry of weights ? report.weights : [])
    if (entry.role === 'weight')
      take([entry.name], { name: entry.name, role: 'weight', scales: scalesOf(entry), at: moves => moveWeight(entry, moves) });
  const owners = new Set(report.activations.map(({ name }) => name));
  for (const entry of report.activations) {
    if (entry.sharedWith !== undefined) {
      if (!owners.has(entry.sharedWith) && places.has(entry.name)) skipped.push(entry.name);
      continue;
    }
    const others = report.activations.filter(({ sharedWith }) => sharedWith === entry.name).map(({ name }) => name);
    take([entry.name, ...others], {
      name: entry.name,
      role: 'activation',
      scales: scalesOf(entry),
      at: moves => moveActivation(entry, moves),
    });
  }
  const byBlock = blocks.map((_, index) =>
    found
      .filter(([block]) => block === index)
      .sort(([, a], [, b]) => a - b)
      .map(([, , tensor]) => tensor),
  );
  return { byBlock, skipped };
}

function scalesOf({ position }: { readonly position?: number | undefined }): SearchedTensor['scales'] {
  return position === undefined ? 'any' : 'powers-of-two';
}

interface Place {
  readonly block: number;
  readonly place: number;
}

/** Where values are computed, and where constants are read: once per block. */
function placeTensors({ float: { graph } }: SteppedModels, blocks: readonly SearchBlock[]): ReadonlyMap<string, readonly Place[]> {
  const places = new Map<string, Place[]>();
  const note = (name: string, place: Place): void => {
    const known = places.get(name) ?? [];
    if (!known.some(({ block }) => block === place.block)) places.set(name, [...known, place]);
  };
  let place = 0;
  for (const [block, { steps }] of blocks.entries()) {
    for (const { value, nodes } of steps) {
      for (const id of nodes.flatMap(({ inputs }) => inputs)) {
        const read = id === undefined ? undefined : graph.values.get(id);
        if (read?.constant !== undefined) note(read.name, { block, place: place++ });
      }
      note(value.name, { block, place: place++ });
    }
  }
  return places;
}

const WIDTH = 0.05;

/** Weights with one power of two as scale; or with ranges of which a share is taken. */
function moveWeight(entry: WeightEntry, moves: number): RangeOverride | undefined {
  const { name: tensor, position, scale: scales } = entry;
  if (position === undefined)
    return moves < 0 && 1 + moves * WIDTH > 0 ? { tensor, set: { clip: Number((1 + moves * WIDTH).toFixed(6)) } } : undefined;
  const [scale, ...others] = scales;
  const moved = scale === undefined || others.length > 0 ? undefined : scaleMoved(scale, moves);
  return moved === undefined ? undefined : { tensor, set: { scale: moved } };
}

function moveActivation(
  { name: tensor, position, scale, zeroPoint, dtype, range }: ActivationEntry,
  moves: number,
): RangeOverride | undefined {
  if (position === undefined) {
    const factor = 1 + moves * WIDTH;
    const [low = 0, high = 0] = range;
    return factor > 0 ? { tensor, set: { ends: { low: Math.fround(low * factor), high: Math.fround(high * factor) } } } : undefined;
  }
  const moved = scaleMoved(scale, moves);
  if (moved === undefined) return undefined;
  // The low end of the range stays where it is, as far as integers allow.
  const { low, high } = storageRange(dtype);
  const middle = (low + high + 1) / 2;
  const isMiddle = zeroPoint === middle || zeroPoint === 0;
  const point = isMiddle ? zeroPoint : Math.min(high, Math.max(low, Math.round(low + (zeroPoint - low) * (scale / moved))));
  return { tensor, set: { scale: moved, zeroPoint: point } };
}

function scaleMoved(scale: number, moves: number): number | undefined {
  const position = nearestPosition(scale) - moves;
  return position < POSITIONS.low || position > POSITIONS.high ? undefined : scaleAt(position);
}
