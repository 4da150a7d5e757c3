/** Into which pieces does a whole Mask R-CNN fall? In the order in which they run, each reading what those before it gave. */

/** What stands between and behind the parts: sorting, suppression, pooling and pasting, for a CPU. */
export const BETWEEN_PIECES = ['to_box', 'to_mask', 'rest'] as const;
export type BetweenPiece = (typeof BETWEEN_PIECES)[number];

export const MASKRCNN_PIECES = ['backbone', 'to_box', 'box_head', 'to_mask', 'mask_head', 'rest'] as const;
