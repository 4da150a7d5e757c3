/** The memory plan of a part: its activations in one arena over the units, and the units that do not fit into on-chip memory. */
import { invariant } from '../../base/invariant.js';
import type { Target } from '../profile/choose-target.js';
import type { MemoryReport } from '../report/memory-report.js';
import type { UnitGraph } from '../units/node-units.js';
import { ALIGNMENT_BYTES, alignBytes, areLiveTogether, findBound } from './arena.js';
import { type Activation, findActivations } from './lifetimes.js';
import { type Placement, placeTensors } from './place-tensors.js';
import { findStrips } from './row-strips.js';

/** @param units the units that the device itself runs, in their order. @returns undefined if there are none, or a size is unknown. */
export function planMemory(graph: UnitGraph, units: readonly number[], { device, dtype }: Target): MemoryReport | undefined {
  // A float data type is bf16: the file has float32, the device 16 bits.
  const sizes = dtype.form === 'float' ? 0.5 : 1;
  const activations = units.length === 0 ? undefined : findActivations(graph, units, sizes);
  if (activations === undefined) return undefined;
  const bound = findBound(activations);
  const placement = placeTensors(activations);
  checkPlacement(activations, placement);
  const { onChip } = device;
  return {
    alignmentBytes: ALIGNMENT_BYTES,
    peakBytes: placement.bytes,
    boundBytes: bound.bytes,
    gapBytes: placement.bytes - bound.bytes,
    sumBytes: activations.reduce((sum, { bytes }) => sum + alignBytes(bytes), 0),
    peakUnit: units[bound.step] ?? 0,
    units,
    tensors: activations.map(({ name, bytes, first, last }, index) => ({
      name,
      bytes,
      offset: placement.offsets[index] ?? 0,
      first,
      last,
    })),
    ...(onChip === undefined
      ? {}
      : { onChip: { bytes: onChip.value, units: units.map(unit => findStrips(graph, unit, onChip.value, sizes)) } }),
  };
}

/** The plan is only of use if it is right, so every plan is checked. */
function checkPlacement(tensors: readonly Activation[], { offsets }: Placement): void {
  for (const [index, one] of tensors.entries()) {
    const start = offsets[index] ?? -1;
    invariant(start >= 0 && start % ALIGNMENT_BYTES === 0, `tensor "${one.name}" is not aligned in the arena`);
    for (const [at, other] of tensors.entries()) {
      const begin = offsets[at] ?? -1;
      const isApart = at <= index || !areLiveTogether(one, other) || start + one.bytes <= begin || begin + other.bytes <= start;
      invariant(isApart, `tensors "${one.name}" and "${other.name}" overlap in the arena`);
    }
  }
}
