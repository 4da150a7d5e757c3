/** Measured calls of compiled models, from a report of `compile` and one of a run on a device. */
import type { BenchReport, StrategyReport } from '../../../runtime/measure/bench-report.js';
import type { CompileReport, ModelReport } from '../../report/compile-report.js';
import { findPlacedWork } from '../placed-work.js';
import type { LatencyPoint } from '../published/latency-point.js';

export interface OwnPoints {
  readonly points: readonly LatencyPoint[];
  /** Models of the report that give no point, and why. */
  readonly unused: readonly { readonly model: string; readonly why: string }[];
}

/** A board at hand says more about itself than a published point: 10 % instead of 20 %. */
const OWN_NOISE = 0.1;

/** The times of one call each, by the clock of the device if there is one. */
export function listOwnPoints({ target, models }: CompileReport, bench: BenchReport, source: string): OwnPoints {
  const { device, version } = target;
  const points: LatencyPoint[] = [];
  const unused: { model: string; why: string }[] = [];
  for (const model of models) {
    const units = model.place === 'cpu' ? undefined : findPlacedWork(model);
    const ms = findCallMs(model, bench);
    if (units !== undefined && ms !== undefined && ms > 0)
      points.push({ network: model.name, device, software: version, group: ownGroup(version), noise: OWN_NOISE, source, units, ms });
    else unused.push({ model: model.name, why: describeGap(model, units === undefined, ms) });
  }
  return { points, unused };
}

/** Own measurements of a version have a factor of their own: the board's clock and driver may differ from those of published points. */
export function ownGroup(version: string): string {
  return `${version} (own)`;
}

function describeGap({ place }: ModelReport, hasNoWork: boolean, ms: number | undefined): string {
  if (place === 'cpu') return 'the pipeline places it on the CPU';
  if (hasNoWork) return 'its compile report is of an earlier version: build it again';
  return ms === 0 ? 'its time is 0' : 'no call of its quantized form with the compiled batch was timed';
}

function findCallMs(model: ModelReport, bench: BenchReport): number | undefined {
  const form = bench.parts.find(({ part }) => part === model.name)?.forms.find(one => one.form === 'int8');
  const row = form?.rows.find(one => isCompiledBatch(one, model));
  const count = row?.counts.find(({ calls }) => calls > 0);
  const latency = count?.device ?? count?.here;
  return count === undefined || latency === undefined ? undefined : latency.p50Ms / count.calls;
}

/** Whether each call runs the model as it was compiled. */
function isCompiledBatch({ strategy }: StrategyReport, { estimate, parts }: ModelReport): boolean {
  if (strategy.kind === 'whole') return true;
  if (strategy.kind === 'tiles') return strategy.tiles === estimate.image.tiles;
  const batch = parts[0]?.inputs[0]?.dims[0];
  return strategy.kind === 'fixed' && strategy.batch === batch;
}
