/** Numbers with a fixed count of decimals. */
import { fixed } from '../../../src/base/text/fixed.js';

it.each([
  [-0.04, 1, '0.0'],
  [-0.06, 1, '-0.1'],
  [-0, 2, '0.00'],
  [-10, 0, '-10'],
  [1.25, 2, '1.25'],
])('%d with %d decimals', (value, digits, expected) => {
  expect(fixed(value, digits)).toBe(expected);
});
