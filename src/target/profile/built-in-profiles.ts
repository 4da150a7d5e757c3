/** Which targets does the product know by itself? Their profiles are JSON files, the same that a user writes. */
import type { Json } from '../../base/json.js';
import genericInt8 from './profiles/generic-int8.json' with { type: 'json' };
import ryzenAi from './profiles/ryzen-ai.json' with { type: 'json' };

export const BUILT_IN_PROFILES: Readonly<Record<string, Json>> = { 'ryzen-ai': ryzenAi, 'generic-int8': genericInt8 };
