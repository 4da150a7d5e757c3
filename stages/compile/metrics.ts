/** The metrics of `compile`, for gates: figures of each model and of all together. */
import type { JsonObject } from '../../src/base/json.js';
import { sumEstimates } from '../../src/target/estimate/estimate.js';
import type { CompileReport, LatencyEstimate, ModelCounts } from '../../src/target/report/compile-report.js';
import { listCostlyReasons } from '../../src/target/report/costly-reasons.js';

/**
 * `<model>.npuMacShare`, `<model>.cpuNodes`, …, and `total.…`. Times are estimates and are named so; heads that run on tiles instead add none to the total.
 * `reasons` has the costliest reasons of each share that is not whole, for missed gates.
 */
export function makeMetrics({ models }: CompileReport): JsonObject {
  const all = models.map(model => model.counts);
  const reasons = [...models.map(model => [model.name, [model]] as const), ['total', models] as const].flatMap(([name, some]) => {
    const found = listCostlyReasons(some);
    return found.length === 0 ? [] : [[`${name}.npuMacShare`, found] as const];
  });
  return {
    ...Object.fromEntries(models.map(({ name, counts, estimate }) => [name, metricsOf(counts, estimate.image.perImage)])),
    total: metricsOf(
      addCounts(all),
      sumEstimates(models.flatMap(model => (model.replacedBy === undefined ? [model.estimate.image.perImage] : []))),
    ),
    ...(reasons.length === 0 ? {} : { reasons: Object.fromEntries(reasons) }),
  };
}

function metricsOf(counts: ModelCounts, { ms }: LatencyEstimate): JsonObject {
  const { npuMacShare, npuNodes, cpuNodes, edgeNodes, cpuUnits, parts, npuParts } = counts;
  return { npuMacShare, npuNodes, cpuNodes, edgeNodes, cpuUnits, parts, npuParts, estimatedMs: ms };
}

function addCounts(all: readonly ModelCounts[]): ModelCounts {
  const sum = (of: (counts: ModelCounts) => number): number => all.reduce((total, counts) => total + of(counts), 0);
  const macs = sum(counts => counts.macs);
  return {
    nodes: sum(counts => counts.nodes),
    npuNodes: sum(counts => counts.npuNodes),
    cpuNodes: sum(counts => counts.cpuNodes),
    edgeNodes: sum(counts => counts.edgeNodes),
    units: sum(counts => counts.units),
    npuUnits: sum(counts => counts.npuUnits),
    cpuUnits: sum(counts => counts.cpuUnits),
    parts: sum(counts => counts.parts),
    npuParts: sum(counts => counts.npuParts),
    macs,
    npuMacShare: macs === 0 ? Number(sum(counts => counts.cpuUnits) === 0) : sum(counts => counts.npuMacShare * counts.macs) / macs,
  };
}
