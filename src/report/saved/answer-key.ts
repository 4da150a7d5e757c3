/** Where a saved page holds its answers, and their names: those of the page's requests for data. */

/** The id of the element that holds the answers. */
export const DATA_ID = 'tanren-views';

/** The content version: a saved page has one version of everything. */
const VERSION = 'v';

/** @param path as the page asks: a name and parameters. Equal requests have equal keys, in any order of the parameters. */
export function answerKey(path: string): string {
  const [name = '', query = ''] = path.split('?');
  const parameters = [...new URLSearchParams(query)].filter(([key]) => key !== VERSION).sort(([a], [b]) => (a < b ? -1 : 1));
  return parameters.length === 0 ? name : `${name}?${new URLSearchParams(parameters)}`;
}

/** The key of a request with these parameters. */
export function keyOf(name: string, parameters: Readonly<Record<string, string>>): string {
  return answerKey(`${name}?${new URLSearchParams(parameters)}`);
}
