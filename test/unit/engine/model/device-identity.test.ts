/** The size limit of device identities. */
import { checkIdentitySize } from '../../../../src/engine/model/device-identity.js';
import { EngineError } from '../../../../src/engine/model/engine-error.js';

const LIMIT = 65_536;
const FRAME = JSON.stringify({ name: '' }).length;

it('accepts an identity of exactly the limit', () => {
  expect(() => checkIdentitySize({ name: 'x'.repeat(LIMIT - FRAME) })).not.toThrow();
});

it('refuses one character more, with both sizes', () => {
  const check = (): void => checkIdentitySize({ name: 'x'.repeat(LIMIT - FRAME + 1) });
  expect(check).toThrow(EngineError);
  expect(check).toThrow(/has 65537 characters as JSON; it may have at most 65536/);
});

it('counts characters as they are escaped in JSON', () => {
  expect(() => checkIdentitySize({ name: '"'.repeat(LIMIT / 2) })).toThrow(expect.objectContaining({ code: 'device-unidentified' }));
});
