/** Partitions a model: convex groups of units, each for one device, that run in sequence, chosen by a documented cost. */

import { placeUnits, type UnitVerdict } from '../legality/judge-units.js';
import type { Target } from '../profile/choose-target.js';
import type { Device } from '../report/compile-report.js';
import type { UnitGraph } from '../units/node-units.js';
import { bytesOf, type UnitWork } from '../units/unit-work.js';
import { mergeGroups } from './merge.js';
import { type CostConstants, costOf, type Flow } from './part-cost.js';
import { contract, renumber, sortQuotient } from './quotient.js';
import { groupInWaves, type WaveOptions } from './waves.js';

export interface Partition {
  /** In execution order. The units of each part are in topological order. */
  readonly parts: readonly PlannedPart[];
  readonly partOf: readonly number[];
  readonly devices: readonly Device[];
  /** Legal units that are on the CPU, with the reason. */
  readonly demoted: ReadonlyMap<number, Demotion>;
}

export interface Demotion {
  readonly rule: 'whole-model' | 'too-few-conv' | 'too-many-subgraphs';
  readonly reason: string;
}

export interface PartitionOptions {
  readonly works: readonly UnitWork[];
  /** Why the whole model must be on the CPU. */
  readonly refused?: Demotion | undefined;
}

export interface PlannedPart {
  readonly device: Device;
  readonly units: readonly number[];
}

/**
 * Partitions units by their verdicts. Every unit is in exactly one part, parts are convex, and the graph of parts is acyclic.
 * A model with too few Conv goes to the CPU. If there are more NPU parts than the target supports, those with the fewest MACs move too.
 */
export function partitionUnits(
  graph: UnitGraph,
  verdicts: readonly UnitVerdict[],
  target: Target,
  { works, refused }: PartitionOptions,
): Partition {
  const flows = flowsOf(graph);
  const constants = constantsOf(target);
  const legal = graph.units.filter(({ id }) => verdicts[id]?.admitted === true);
  const whole = refused ?? findFewConvs(graph, target);
  const demoted = new Map<number, Demotion>(whole === undefined ? [] : legal.map(({ id }) => [id, whole]));
  for (;;) {
    const devices = placeUnits(graph, verdicts, new Set(demoted.keys()));
    const groupOf = chooseGroups(graph, devices, flows, constants);
    const parts = orderParts(graph, groupOf, devices);
    const before = demoted.size;
    for (const [unit, reason] of findDemotions(parts, target, works)) demoted.set(unit, reason);
    if (demoted.size > before) continue;
    const partOf: number[] = graph.units.map(() => -1);
    for (const [index, { units }] of parts.entries()) for (const unit of units) partOf[unit] = index;
    return { parts, partOf, devices, demoted };
  }
}

function constantsOf({ device }: Target): CostConstants {
  return { fixedMs: device.estimate.fixedMs.value, bytesPerMs: device.estimate.bandwidth.value / 1000 };
}

/** Candidates in this order; of equal costs the first wins. */
const WAVES: readonly WaveOptions[] = [
  { first: 'npu', direction: 'forward' },
  { first: 'cpu', direction: 'forward' },
  { first: 'npu', direction: 'backward' },
  { first: 'cpu', direction: 'backward' },
];

function chooseGroups(graph: UnitGraph, devices: readonly Device[], flows: readonly Flow[], constants: CostConstants): readonly number[] {
  let best: readonly number[] = [];
  let bestCost = Number.POSITIVE_INFINITY;
  for (const options of WAVES) {
    const waves = renumber(groupInWaves(graph, devices, options));
    const merged = mergeGroups(graph, waves, devices, { flows, constants });
    for (const groupOf of [waves, ...(merged === undefined ? [] : [merged])]) {
      const cost = costOf(groupOf, flows, constants);
      if (cost < bestCost) [best, bestCost] = [groupOf, cost];
    }
  }
  return best;
}

function orderParts(graph: UnitGraph, groupOf: readonly number[], devices: readonly Device[]): readonly PlannedPart[] {
  const groups = new Map<number, number[]>();
  for (const [unit, group] of groupOf.entries()) groups.set(group, [...(groups.get(group) ?? []), unit]);
  const order = sortQuotient(contract(graph, groupOf)) ?? [];
  return order.map(group => {
    const units = groups.get(group) ?? [];
    return { device: devices[units[0] ?? -1] ?? 'cpu', units };
  });
}

function findFewConvs(graph: UnitGraph, { graph: { minConvs } }: Target): Demotion | undefined {
  const convs = countConvs(graph);
  if (convs >= minConvs.value) return undefined;
  return {
    rule: 'too-few-conv',
    reason: `the model has ${convs} Conv; the compiler leaves a model with fewer than ${minConvs.value} on the CPU`,
  };
}

/** Legal units that must leave the NPU, with the reason. */
function findDemotions(parts: readonly PlannedPart[], target: Target, works: readonly UnitWork[]): ReadonlyMap<number, Demotion> {
  const { maxSubgraphs } = target.graph;
  const onNpu = parts.filter(({ device }) => device === 'npu');
  const reasons = new Map<number, Demotion>();
  if (onNpu.length <= maxSubgraphs.value) return reasons;
  const [least] = onNpu.toSorted((a, b) => sumMacs(works, a.units) - sumMacs(works, b.units));
  const reason = `the model has ${onNpu.length} NPU parts, and the target supports ${maxSubgraphs.value}: its part has the fewest multiply-accumulates`;
  for (const unit of least?.units ?? []) reasons.set(unit, { rule: 'too-many-subgraphs', reason });
  return reasons;
}

export function countConvs({ units }: UnitGraph): number {
  return units.filter(({ target }) => target.opType === 'Conv').length;
}

function sumMacs(works: readonly UnitWork[], units: readonly number[]): number {
  return units.reduce((sum, id) => sum + (works[id]?.macs ?? 0), 0);
}

/** Values between units, and into and out of the model. */
function flowsOf({ model, units, unitOf }: UnitGraph): readonly Flow[] {
  const readers = new Map<number, Set<number>>();
  for (const unit of units) {
    for (const node of unit.nodes) {
      for (const id of node.inputs) {
        if (id === undefined) continue;
        const list = readers.get(id);
        if (list === undefined) readers.set(id, new Set([unit.id]));
        else list.add(unit.id);
      }
    }
  }
  const outputs = new Set(model.graph.outputs);
  return [...model.graph.values.values()].flatMap(({ id, producer, constant }) => {
    if (constant !== undefined) return [];
    const reading = [...(readers.get(id) ?? [])];
    return [
      {
        bytes: bytesOf(model, id),
        producer: producer === undefined ? undefined : unitOf.get(producer),
        readers: reading,
        isOutput: outputs.has(id),
      },
    ];
  });
}
