/** Selection of the values of a graph that match a name pattern. No match is an error that names similar values. */
import { describeNear, findNear } from '../../base/text/did-you-mean.js';
import type { Graph, Value } from '../ir/model.js';
import { OnnxError } from '../ir/onnx-error.js';
import { makeNameMatcher } from './name-pattern.js';

/**
 * The values of `graph` (not of its subgraphs), including constants, whose names match `pattern`, in the order of the table; at least one.
 * @throws OnnxError `selector-matches-nothing`, with similar names.
 */
export function selectValues(graph: Graph, pattern: string): Value[] {
  const matches = makeNameMatcher(pattern);
  const values = [...graph.values.values()];
  const found = values.filter(({ name }) => matches(name));
  if (found.length > 0) return found;
  const near = findNear(
    pattern,
    values.map(({ name }) => name),
  );
  const options = near.length === 0 ? {} : { help: describeNear(near) };
  throw new OnnxError('selector-matches-nothing', `no value of graph "${graph.name}" matches "${pattern}"`, options);
}
