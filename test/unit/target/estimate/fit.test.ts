/** The fitted constants of estimates: reproduced from the committed points, and held to networks that they have not seen. */
import { requestFit } from '../../../../src/target/estimate/fit/device-request.js';
import { fitDevice, predict, WIDE_PRIORS } from '../../../../src/target/estimate/fit/fit-device.js';
import { minimizeSquares, solve } from '../../../../src/target/estimate/fit/least-squares.js';
import { coverageOf, findContradictions, leaveNetworksOut, medianError } from '../../../../src/target/estimate/fit/leave-one-out.js';
import { withDeviceFit } from '../../../../src/target/estimate/fit/profile-with-fit.js';
import type { LatencyPoint } from '../../../../src/target/estimate/published/latency-point.js';
import { readPublished } from '../../../../src/target/estimate/published/published-points.js';
import type { PlacedWork, TimeConstants } from '../../../../src/target/estimate/unit-time.js';
import { chooseTarget, getBuiltInProfile } from '../../../../src/target/profile/choose-target.js';

const published = readPublished();
const profile = getBuiltInProfile('ryzen-ai');
const DEVICES = ['phx-hpt', 'stx-krk'] as const;

describe('the fit to published points', () => {
  it.each(DEVICES)('gives the constants of the built-in profile for %s', device => {
    const request = requestFit(profile, device, published);
    const source = ['fit', chooseTarget(profile, { device, dtype: 'xint8' }).sourceOf('fit')] as const;
    const again = withDeviceFit(profile, { device, fit: fitDevice(request), request, source });
    const { estimate } = chooseTarget(profile, { device, dtype: 'xint8' }).device;
    const { estimate: fitted } = chooseTarget(again, { device, dtype: 'xint8' }).device;
    // Exponentials and logarithms may differ in their last bits between versions of V8; the constants have three digits.
    for (const [name, constant] of [
      ...(['bandwidth', 'fixedMs', 'handoverMs'] as const).map(key => [key, (one: typeof estimate) => one[key].value] as const),
      ...(['conv', 'depthwise', 'other'] as const).map(key => [key, (one: typeof estimate) => one.efficiency[key].value] as const),
      ['layerMs', (one: typeof estimate) => one.layerMs?.value ?? Number.NaN] as const,
    ])
      expect([name, constant(fitted) / constant(estimate)]).toEqual([name, expect.closeTo(1, 2)]);
    expect(fitted.releases?.map(({ version, factor }) => [version, factor.value])).toEqual(
      estimate.releases?.map(({ version, factor }) => [version, expect.closeTo(factor.value, 2)]),
    );
  });

  it('predicts networks that were left out within 35 % at the median, and in intervals of at most four times for 85 %', () => {
    const rows = DEVICES.flatMap(device => leaveNetworksOut(requestFit(profile, device, published)));
    const spreads = DEVICES.map(device => chooseTarget(profile, { device, dtype: 'xint8' }).device.estimate.spread?.factor ?? 9);
    expect(rows).toHaveLength(49);
    expect(medianError(rows)).toBeLessThanOrEqual(0.35);
    for (const factor of spreads) {
      expect(factor ** 2).toBeLessThanOrEqual(4);
      expect(coverageOf(rows, factor)).toBeGreaterThanOrEqual(0.85);
    }
  });

  it('names points that contradict each other', () => {
    expect(
      findContradictions(published.points, 1.25).map(({ network, device, software, points }) => [
        network,
        device,
        software,
        points.map(({ ms }) => ms),
      ]),
    ).toEqual([
      ['resnet50', 'stx-krk', '1.6', [3.58, 5.24]],
      ['yolov8m', 'stx-krk', undefined, [21, 75.61, 134.04, 34.4]],
      ['yolov8n', 'phx-hpt', '1.7.1', [8.94, 6.85]],
    ]);
  });

  it('has a source for every point, and the work of every network that it fits', () => {
    for (const { source } of published.points) expect(Object.keys(published.sources)).toContain(source);
    expect(new Set(DEVICES.flatMap(device => requestFit(profile, device, published).points.map(({ network }) => network))).size).toBe(15);
  });
});

describe('a fit', () => {
  const given: TimeConstants = {
    conv: 1,
    depthwise: 1,
    other: 1,
    bandwidth: 1,
    fixedMs: 0,
    layerMs: 0,
    handoverMs: 0,
    maxHandovers: 100,
    lanes: undefined,
    host: { macs: 1e11, elements: 1e9, bandwidth: 1e10 },
    byteShare: 1,
  };
  const unit = (macs: number, bytes: number, count: number, engine: 'conv' | 'depthwise' = 'conv'): PlacedWork => ({
    where: 'npu',
    count,
    work: { engine, macs, elements: 0, weightBytes: bytes, inputBytes: 0, outputBytes: 0 },
  });
  /** 3 TMAC/s, 20 GB/s, 0.9 ms per call, 0.01 ms per layer; written down here without the code under test. */
  const networks: readonly (readonly [string, readonly PlacedWork[], number])[] = [
    ['wide', [unit(3e9, 1e3, 10)], 0.9 + 10 * (0.01 + 1)],
    ['weights', [unit(1e6, 2e7, 5)], 0.9 + 5 * (0.01 + 1)],
    ['deep', [unit(3e6, 100, 300)], 0.9 + 300 * (0.01 + 0.001)],
    ['small', [unit(3e6, 100, 2)], 0.9 + 2 * (0.01 + 0.001)],
    ['gates', [unit(3e7, 100, 20, 'depthwise')], 0.9 + 20 * (0.01 + 1)],
  ];
  const points: readonly LatencyPoint[] = networks.flatMap(([network, units, ms]) =>
    ['1', '2'].map(software => ({ network, device: 'd', software, source: 's', units, ms: software === '1' ? 2 * ms : ms })),
  );

  it('finds the constants from which times were computed, and the factor of a release that is twice as slow', () => {
    const { constants, releases } = fitDevice({ points, given: () => given, priors: WIDE_PRIORS, reference: '2' });
    // The priors pull by a few percent: their deviations are a factor of 2 to 3.3, that of a point is 1.22.
    expect(constants.conv.value / 3e12).toBeCloseTo(1, 1);
    expect(constants.bandwidth.value / 20e9).toBeCloseTo(1, 1);
    expect(constants.fixedMs.value / 0.9).toBeCloseTo(1, 1);
    expect(constants.layerMs.value / 0.01).toBeCloseTo(1, 1);
    expect(constants.depthwise.value / 3e7 / 1000).toBeCloseTo(1, 0);
    expect(releases.get('1')?.value).toBeCloseTo(2, 1);
    expect(releases.get('2')?.value).toBe(1);
  });

  it('keeps the prior of a constant that no point depends on', () => {
    const { handoverMs, other } = fitDevice({ points, given: () => given, priors: WIDE_PRIORS, reference: '2' }).constants;
    expect([handoverMs.value, other.value / 1e9]).toEqual([expect.closeTo(0.5, 6), expect.closeTo(2, 6)]);
    expect(Math.log(handoverMs.error)).toBeCloseTo(0.7, 3);
  });

  it('is moved little by one point that is six times too slow', () => {
    const wrong = points.map(point => (point.network === 'small' && point.software === '2' ? { ...point, ms: 6 * point.ms } : point));
    const fit = fitDevice({ points: wrong, given: () => given, priors: WIDE_PRIORS, reference: '2' });
    const wide = points.find(({ network, software }) => network === 'wide' && software === '2');
    expect(predict(fit, wide ?? { software: '', units: [] }, () => given) / (wide?.ms ?? 1)).toBeCloseTo(1, 0.7);
  });
});

describe('least squares', () => {
  it('solve linear equations', () => {
    // 0·x + 2·y + 1·z = 5, 1·x + 1·y = 3, 3·z = 3: pivots are exchanged.
    expect(
      solve(
        [
          [0, 2, 1],
          [1, 1, 0],
          [0, 0, 3],
        ],
        [5, 3, 3],
      ),
    ).toEqual([1, 2, 1]);
  });

  it('give the line of ordinary regression, and its standard errors', () => {
    const xs = [1, 2, 3, 4, 6];
    const ys = [2.1, 3.9, 6.2, 7.8, 12.1];
    const { solution, errors } = minimizeSquares(([a = 0, b = 0]) => xs.map((x, index) => a + b * x - (ys[index] ?? 0)), [0, 0]);
    // Normal equations by hand: n = 5, Σx = 16, Σx² = 66, Σy = 32.1, Σxy = 132.3, determinant 5·66 − 16² = 74.
    expect(solution).toEqual([expect.closeTo((66 * 32.1 - 16 * 132.3) / 74, 4), expect.closeTo((5 * 132.3 - 16 * 32.1) / 74, 4)]);
    expect(errors).toEqual([expect.closeTo(Math.sqrt(66 / 74), 4), expect.closeTo(Math.sqrt(5 / 74), 4)]);
  });
});
