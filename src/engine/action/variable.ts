/** The text that is digested for an environment variable. The label keeps the digest different from that of a file with the same text. */
export function labelVariable(value: string): string {
  return `tanren-env:${value}`;
}
