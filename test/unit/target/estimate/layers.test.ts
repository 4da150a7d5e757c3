/** Layers of an estimated call, their trace, and the fit of a profile to measured calls. */
import { isJsonList, isJsonObject, type JsonObject } from '../../../../src/base/json.js';
import type { BenchReport } from '../../../../src/runtime/measure/bench-report.js';
import { evaluate } from '../../../../src/runtime/session/evaluate.js';
import { compileModel } from '../../../../src/target/compile-model.js';
import { traceEstimates } from '../../../../src/target/estimate/chrome-trace.js';
import { listOwnPoints } from '../../../../src/target/estimate/fit/own-points.js';
import { recalibrate } from '../../../../src/target/estimate/fit/recalibrate.js';
import { listLayers } from '../../../../src/target/estimate/layer-rows.js';
import { chooseTarget, getBuiltInProfile } from '../../../../src/target/profile/choose-target.js';
import type { CompileReport, ModelReport } from '../../../../src/target/report/compile-report.js';
import { makeNeck } from '../../../support/neck.js';

const profile = getBuiltInProfile('ryzen-ai');
const target = chooseTarget(profile, { device: 'stx-krk', dtype: 'xint8', version: '1.7' });

async function compileNeck(): Promise<ModelReport> {
  return (await compileModel('neck', makeNeck(), target, { evaluate, undocumented: 'cpu', accept: 'any' })).report;
}

const reportOf = (...models: readonly ModelReport[]): CompileReport => ({
  format: 'tanren-compile-report/1',
  target: target.identity,
  models,
});

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

describe('the layers of an estimate', () => {
  it('add up to the call, with its fixed time and a hand-over for each unit on the CPU', async () => {
    const report = await compileNeck();
    const layers = listLayers(report);
    const { fixedMs, handoverMs, releases } = target.device.estimate;
    expect(report.counts.cpuUnits).toBeGreaterThan(0);
    expect(layers?.fixedMs).toBeCloseTo(fixedMs.value * (releases?.find(({ version }) => version === '1.7')?.factor.value ?? 0), 9);
    expect(sum(layers?.rows.map(({ ms }) => ms) ?? []) + (layers?.fixedMs ?? 0)).toBeCloseTo(report.estimate.image.perCall.ms, 9);
    expect(sum(layers?.rows.map(({ share }) => share) ?? [])).toBeLessThan(1);
    const onCpu = report.units.filter(({ device }) => device === 'cpu');
    for (const { callMs = 0 } of onCpu) expect(callMs).toBeGreaterThan(handoverMs.value);
  });

  it('are unknown for a report of an earlier version', async () => {
    const { units, estimate } = await compileNeck();
    expect(listLayers({ units: units.map(({ callMs: _callMs, ...unit }) => unit), estimate })).toBeUndefined();
  });

  it('make a trace whose events lie one after the other on each track, and end with the call', async () => {
    const report = await compileNeck();
    const trace = traceEstimates(reportOf(report, { ...report, name: 'second' }));
    const events = (isJsonList(trace.traceEvents) ? trace.traceEvents : []).filter(isJsonObject);
    const spans = events.filter(({ ph }) => ph === 'X');
    for (const pid of [1, 2]) {
      expect(events).toContainEqual({
        ph: 'M',
        name: 'process_name',
        pid,
        tid: 0,
        args: { name: `${pid === 1 ? 'neck' : 'second'} (estimate)` },
      });
      const own = spans.filter(span => span.pid === pid);
      for (const tid of new Set(own.map(span => span.tid))) checkTrack(own.filter(span => span.tid === tid));
      const ends = own.map(({ ts, dur }) => Number(ts) + Number(dur));
      // Microseconds with three digits: each unit is off by half a nanosecond at most.
      expect(Math.max(...ends) / 1000).toBeCloseTo(report.estimate.image.perCall.ms, 4);
    }
  });

  function checkTrack(spans: readonly JsonObject[]): void {
    for (const [index, { ts }] of spans.entries()) {
      const before = spans[index - 1];
      if (before !== undefined) expect(Number(ts)).toBeGreaterThanOrEqual(Number(before.ts) + Number(before.dur) - 0.0011);
    }
  }
});

describe('measured calls', () => {
  const latency = (p50Ms: number) => ({ repeats: 9, minMs: p50Ms, meanMs: p50Ms, stdMs: 0, p50Ms, p90Ms: p50Ms, p99Ms: p50Ms });
  const benchOf = (
    strategy: BenchReport['parts'][number]['forms'][number]['rows'][number]['strategy'],
    calls: number,
    ms: number,
  ): BenchReport => ({
    format: 'tanren-bench/1',
    where: { runner: 'external' },
    warmup: 1,
    repeats: 9,
    parts: [
      {
        part: 'neck',
        fed: 'random',
        counts: [],
        imagesWithout: 0,
        forms: [
          {
            form: 'int8',
            rows: [{ strategy, counts: [{ calls, padded: 0, here: latency(9 * ms), device: latency(ms) }], perImageMs: ms }],
            best: 0,
            bestAt: [],
          },
        ],
      },
    ],
  });

  it('are those of the compiled batch, by the clock of the device', async () => {
    const report = reportOf(await compileNeck());
    const times = (bench: BenchReport): readonly number[] => listOwnPoints(report, bench, 'b').points.map(({ ms }) => ms);
    expect(times(benchOf({ kind: 'whole' }, 1, 8))).toEqual([8]);
    expect(times(benchOf({ kind: 'fixed', batch: 1 }, 4, 8))).toEqual([2]);
    expect(times(benchOf({ kind: 'fixed', batch: 4 }, 1, 8))).toEqual([]);
    expect(times(benchOf({ kind: 'one-batch' }, 1, 8))).toEqual([]);
    expect(listOwnPoints(report, { ...benchOf({ kind: 'whole' }, 1, 8), parts: [] }, 'b').unused).toEqual([
      { model: 'neck', why: 'no call of its quantized form with the compiled batch was timed' },
    ]);
  });

  it('pull the estimate of their board, and hardly that of published points', async () => {
    const report = await compileNeck();
    const measured = 3 * report.estimate.image.perCall.ms;
    const { points } = listOwnPoints(reportOf(report), benchOf({ kind: 'whole' }, 1, measured), 'b');
    const {
      profile: fitted,
      rows,
      published,
      spread,
    } = recalibrate({ profile, identity: target.identity, points, digest: '0'.repeat(64) });
    const [row] = rows;
    expect(row?.beforeMs).toBeCloseTo(measured / 3, 9);
    expect((row?.afterMs ?? 0) / measured).toBeCloseTo(1, 0.7);
    expect(published.points).toBe(36);
    expect(Math.abs(published.medianErrorAfter - published.medianErrorBefore)).toBeLessThan(0.05);
    expect(spread).toBe(target.device.estimate.spread?.factor);

    const own = chooseTarget(fitted, { device: 'stx-krk', dtype: 'xint8', version: '1.7' });
    const again = (await compileModel('neck', makeNeck(), own, { evaluate, undocumented: 'cpu', accept: 'any' })).report;
    // Constants have three digits.
    expect(again.estimate.image.perCall.ms / (row?.afterMs ?? 1)).toBeCloseTo(1, 2);
    expect(again.estimate.basis.constants.find(({ name }) => name === 'factor of release 1.7')?.source.kind).toBe('fit');
  });

  it('alone fit a profile that has no published points', async () => {
    const generic = getBuiltInProfile('generic-int8');
    const chosen = chooseTarget(generic, {});
    const { report } = await compileModel('neck', makeNeck(), chosen, { evaluate, undocumented: 'cpu', accept: 'any' });
    const measured = 2 * report.estimate.image.perCall.ms;
    const compiled = { ...reportOf(report), target: chosen.identity };
    const { points } = listOwnPoints(compiled, benchOf({ kind: 'whole' }, 1, measured), 'b');
    const { rows, published } = recalibrate({ profile: generic, identity: chosen.identity, points, digest: '0'.repeat(64) });
    expect(published.points).toBe(0);
    expect((rows[0]?.afterMs ?? 0) / measured).toBeCloseTo(1, 0.5);
    expect(rows[0]?.leftOutMs).toBeUndefined();
  });
});
