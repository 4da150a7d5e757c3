/** The built-in target profiles: JSON files in the form that users write. */
import type { Json } from '../../base/json.js';
import genericInt8 from './profiles/generic-int8.json' with { type: 'json' };
import ryzenAi from './profiles/ryzen-ai.json' with { type: 'json' };

export const BUILT_IN_PROFILES: Readonly<Record<string, Json>> = { 'ryzen-ai': ryzenAi, 'generic-int8': genericInt8 };
