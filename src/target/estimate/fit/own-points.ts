/** Measured calls of compiled models, from a report of `compile` and one of a run on a device. */
import type { BenchReport, StrategyReport } from '../../../runtime/measure/bench-report.js';
import type { CompileReport, ModelReport } from '../../report/compile-report.js';
import { TargetError } from '../../report/target-error.js';
import { findPlacedWork } from '../placed-work.js';
import type { LatencyPoint } from '../published/latency-point.js';

export interface OwnPoints {
  readonly points: readonly LatencyPoint[];
  /** Models of the report that give no point, and why. */
  readonly unused: readonly { readonly model: string; readonly why: string }[];
}

/** A board at hand says more about itself than a published point: 10 % instead of 20 %. */
const OWN_NOISE = 0.1;

/**
 * A time that is this many times the estimate, or the estimate this many times it, is no measurement of the model: the largest miss that is known is 7 times,
 * and a wrong unit makes 1,000 times.
 */
const MOST_MISS = 100;

/** The times of one call each, by the clock of the device if there is one. @throws TargetError `estimate-time`. */
export function listOwnPoints({ target, models }: CompileReport, bench: BenchReport, source: string): OwnPoints {
  const { device, version } = target;
  const points: LatencyPoint[] = [];
  const unused: { model: string; why: string }[] = [];
  for (const model of models) {
    const units = model.place === 'cpu' ? undefined : findPlacedWork(model);
    const ms = findCallMs(model, bench);
    if (units !== undefined && ms !== undefined && ms > 0) {
      checkTime(model, ms, source);
      points.push({ network: model.name, device, software: version, group: ownGroup(version), noise: OWN_NOISE, source, units, ms });
    } else unused.push({ model: model.name, why: describeGap(model, units === undefined, ms) });
  }
  return { points, unused };
}

function checkTime({ name, estimate: { image } }: ModelReport, ms: number, source: string): void {
  const estimated = image.perImage.ms / Math.max(image.calls, 1);
  if (ms <= MOST_MISS * estimated && estimated <= MOST_MISS * ms) return;
  const [times, what] = ms > estimated ? [ms / estimated, 'longer'] : [estimated / ms, 'shorter'];
  throw new TargetError(
    'estimate-time',
    `${source}: a call of "${name}" took ${format(ms)}, which is ${Math.round(times).toLocaleString('en-US')} times ${what} than the estimate of ${format(estimated)}`,
    {
      help: `times are in milliseconds; more than ${MOST_MISS} times is no measurement of this model: measure it again, or leave the file out`,
    },
  );
}

function format(ms: number): string {
  return `${Number(ms.toPrecision(3))} ms`;
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
