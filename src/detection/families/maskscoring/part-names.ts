/** Names of the parts of Mask Scoring R-CNN. */
import { MASKRCNN_PARTS } from '../maskrcnn/part-names.js';

export const MASKSCORING_PARTS = [...MASKRCNN_PARTS, 'maskiou_head'] as const;
export type MaskScoringPart = (typeof MASKSCORING_PARTS)[number];
