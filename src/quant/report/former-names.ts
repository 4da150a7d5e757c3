/** Former names of fields in the report of `quantize`, so that reports of earlier versions can be read. */
import { isJsonObject, type Json } from '../../base/json.js';

const FORMER_NAMES: Readonly<Record<string, string>> = { leftOut: 'removed', between: 'input' };

/** The document with present names, and the former names that it has. A present name wins over a former one. */
export function withPresentNames(report: Json): { readonly report: Json; readonly former: readonly string[] } {
  const former = new Set<string>();
  const rename = (json: Json): Json => {
    if (Array.isArray(json)) return json.map(rename);
    if (!isJsonObject(json)) return json;
    return Object.fromEntries(
      Object.entries(json).flatMap(([key, value]): [string, Json][] => {
        const name = FORMER_NAMES[key];
        if (name === undefined) return [[key, rename(value)]];
        former.add(key);
        return name in json ? [] : [[name, rename(value)]];
      }),
    );
  };
  if (!isJsonObject(report)) return { report, former: [] };
  const lists = ['leftOut', 'removed', 'fused'];
  const renamed = rename(Object.fromEntries(Object.entries(report).filter(([key]) => lists.includes(key))));
  const others = Object.fromEntries(Object.entries(report).filter(([key]) => !lists.includes(key)));
  return { report: { ...others, ...(isJsonObject(renamed) ? renamed : {}) }, former: [...former].sort() };
}
