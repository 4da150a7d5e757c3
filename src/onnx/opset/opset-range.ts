/** The range of operator sets that models can be converted between. */
export const OLDEST_OPSET = 6;
export const NEWEST_OPSET = 21;
