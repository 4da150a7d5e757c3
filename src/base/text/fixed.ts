/** Numbers with a fixed count of decimals, without a negative zero. */

/** As `toFixed`, but what rounds to zero has no sign: "0.0" for −0.04. */
export function fixed(value: number, digits: number): string {
  const text = value.toFixed(digits);
  return Number(text) === 0 ? text.replace('-', '') : text;
}
