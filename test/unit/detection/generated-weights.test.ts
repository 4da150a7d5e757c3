/** Generated weights follow the documented rule. */
import { uniform } from '../../support/generated-weights.js';

describe('generated weights', () => {
  it('begin with the values of the rule', () => {
    expect([...uniform('input', 4)]).toEqual([0.5980662722140551, 0.3703484949655831, 0.9605294466018677, -0.9915206991136074]);
  });
});
