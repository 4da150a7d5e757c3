/** Objects lose their undefined members, and keep the order of the others. */
import { withoutUndefined } from '../../../src/base/json/without-undefined.js';

it('drops undefined members only, and keeps the order', () => {
  const value = withoutUndefined({ b: undefined, z: null, a: 0, c: '', d: false });
  expect(Object.entries(value)).toEqual([
    ['z', null],
    ['a', 0],
    ['c', ''],
    ['d', false],
  ]);
});
