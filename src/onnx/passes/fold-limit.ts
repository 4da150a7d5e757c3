/** How large a constant folding creates unless it is told otherwise. */

/** In bytes: the position biases of attention windows and the anchors of detectors are a few megabytes. Expanded masks of large images are not folded. */
export const FOLD_LIMIT_BYTES = 1 << 24;
