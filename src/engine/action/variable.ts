/** Of what is the digest of an environment variable's value? Of the value with a label, so that it is nobody else's digest of the same text. */
export function labelVariable(value: string): string {
  return `tanren-env:${value}`;
}
