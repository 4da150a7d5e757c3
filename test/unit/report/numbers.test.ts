/** Number formats of the report. */
import { formatCount, formatDb, formatDelta, formatFixed, formatNumber, formatShare } from '../../../src/report/numbers.js';

it.each([
  [formatFixed(-0.005, 4), '−0.0050'],
  [formatFixed(-0.00001, 4), '0.0000'],
  [formatDelta(0.00036, 4), '+0.0004'],
  [formatDelta(0.00001, 4), '0.0000'],
  [formatDelta(-0.0046, 4), '−0.0046'],
  [formatNumber(0.0186584), '0.01866'],
  [formatNumber(-2.1179), '−2.118'],
  [formatNumber(0), '0'],
  [formatNumber(-1.2e-7), '−1.20e−7'],
  [formatNumber(12_345_678), '1.23e7'],
  [formatCount(251_631_744), '251,631,744'],
  [formatCount(-1234), '−1,234'],
  [formatShare(1), '100.0\u202F%'],
  [formatShare(0.99999), '>\u200999.9\u202F%'],
  [formatShare(0.0001), '<\u20090.1\u202F%'],
  [formatShare(0), '0.0\u202F%'],
  [formatShare(-0.0004), '0.0\u202F%'],
  [formatShare(-0.0016), '−0.2\u202F%'],
  [formatDb('equal'), 'equal'],
  [formatDb(null), 'equal'],
  [formatDb(-3.25), '−3.3'],
])('%s', (shown, expected) => {
  expect(shown).toBe(expected);
});
