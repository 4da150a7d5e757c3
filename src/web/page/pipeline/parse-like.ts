/** Values of parameters from the texts of fields. */

export type Plain = string | number | boolean;

/** A value of the same type; undefined for a text that is none. The plan checks what the parameter allows. */
export function parseLike(text: string, value: Plain): Plain | undefined {
  if (typeof value === 'string') return text;
  if (typeof value === 'boolean') return text === 'true' ? true : text === 'false' ? false : undefined;
  const number = Number(text);
  return text.trim() === '' || !Number.isFinite(number) ? undefined : number;
}
