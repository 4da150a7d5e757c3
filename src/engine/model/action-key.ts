/** The action key: the digest of an action's manifest. */
import type { Brand } from '../../base/brand.js';

export type ActionKey = Brand<string, 'ActionKey'>;
