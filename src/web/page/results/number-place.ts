/** Where the number of an object stands: at the upper left corner of its box, and whole in the picture. */

/** In units of a line: height of the digits, width of one with its outline, and distance from the corner. */
const [HEIGHT, DIGIT, INDENT] = [10, 7, 2];

export interface NumberPlace {
  /** The left end of its baseline. */
  readonly x: number;
  readonly y: number;
  readonly size: number;
}

/** @param line the width of a line, in pixels of the picture. */
export function placeNumber(
  number: number,
  [left, top]: readonly [number, number, number, number],
  picture: { readonly width: number; readonly height: number },
  line: number,
): NumberPlace {
  const width = String(number).length * DIGIT * line;
  return {
    x: Math.max(0, Math.min(left + INDENT * line, picture.width - width)),
    y: Math.max(HEIGHT * line, Math.min(top + HEIGHT * line, picture.height - INDENT * line)),
    size: HEIGHT * line,
  };
}
