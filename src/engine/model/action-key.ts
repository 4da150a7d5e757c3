/** The key of an action: the digest of its manifest. */
import type { Brand } from '../../base/brand.js';

export type ActionKey = Brand<string, 'ActionKey'>;
