/** Counts with a unit for messages: "54 nodes", "1 node", "1,604 nodes". */
export function countOf(count: number, what: string): string {
  return `${count.toLocaleString('en-US')} ${what}${count === 1 ? '' : 's'}`;
}
