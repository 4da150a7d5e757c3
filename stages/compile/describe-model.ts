/** Lines of the log about a compiled model. */
import type { CompiledModel } from '../../src/target/compile-model.js';
import { listCostlyReasons } from '../../src/target/report/costly-reasons.js';

/** The first reason why nothing of a model runs on the NPU; undefined where something does, or where the pipeline places it on the CPU. */
export function describeNothing({ report }: CompiledModel): string | undefined {
  const { name, place, counts, findings } = report;
  if (place === 'cpu' || counts.npuNodes > 0) return undefined;
  const whole = findings.filter(({ severity }) => severity !== 'warning').map(({ message }) => message);
  const [reason] = whole.length > 0 ? whole : listCostlyReasons([report]);
  return `${name}: nothing runs on the NPU${reason === undefined ? '' : `: ${reason}`}`;
}

export function describeModel({ report: { name, counts, estimate } }: CompiledModel): string {
  const share = (100 * counts.npuMacShare).toFixed(1);
  const { tiles, calls, perImage } = estimate.image;
  const { ms, lowMs, highMs } = perImage;
  const onTiles = tiles === undefined ? '' : ` in ${calls.toFixed(1)} calls of ${tiles} tiles`;
  const parts = `${counts.parts} part${counts.parts === 1 ? '' : 's'}`;
  const { batches } = estimate;
  const best =
    batches === undefined || batches.rows.length === 1
      ? ''
      : `; for ${batches.rois.mean.toFixed(1)} RoIs per image, the estimate is fastest at batch ${batches.best}`;
  return `${name}: ${counts.npuNodes} nodes on the NPU with ${share} % of the MACs, ${counts.cpuNodes} on the CPU, in ${parts}; estimated ${ms.toFixed(1)} ms (${lowMs.toFixed(1)} to ${highMs.toFixed(1)}) per image${onTiles}${best}`;
}
