/** Params of `refit-statistics`. */
import type { FromSchema } from '../../src/base/schema/from-schema.js';
import { SAMPLE_PARAMS } from '../../src/runtime/capture/sample-request.js';

export const REFIT_STATISTICS_PARAMS = { type: 'object', additionalProperties: false, properties: SAMPLE_PARAMS } as const;

export type RefitStatisticsParams = FromSchema<typeof REFIT_STATISTICS_PARAMS>;
