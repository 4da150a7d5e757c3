/** Counts of a compiled model: nodes, units and work on the NPU and on the CPU. */
import type { ModelCounts, PartReport, UnitReport } from './compile-report.js';

export function countUnits(units: readonly UnitReport[], parts: readonly PartReport[]): ModelCounts {
  const nodes = (some: readonly UnitReport[]): number => some.reduce((sum, unit) => sum + unit.nodes.length, 0);
  const macs = (some: readonly UnitReport[]): number => some.reduce((sum, unit) => sum + unit.macs, 0);
  const npu = units.filter(unit => unit.device === 'npu');
  const edge = npu.filter(unit => unit.edge);
  return {
    nodes: nodes(units),
    npuNodes: nodes(npu) - nodes(edge),
    cpuNodes: nodes(units) - nodes(npu),
    edgeNodes: nodes(edge),
    units: units.length,
    npuUnits: npu.length - edge.length,
    cpuUnits: units.length - npu.length,
    parts: parts.length,
    npuParts: parts.filter(part => part.device === 'npu').length,
    macs: macs(units),
    npuMacShare: macs(units) === 0 ? Number(npu.length === units.length) : macs(npu) / macs(units),
  };
}
