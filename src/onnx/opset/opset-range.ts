/** Between which operator sets can models be converted? */
export const OLDEST_OPSET = 6;
export const NEWEST_OPSET = 21;
