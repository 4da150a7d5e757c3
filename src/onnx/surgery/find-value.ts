/** Lookup of a value by name, with suggestions for an unknown name. */
import { describeNear, findNear } from '../../base/text/did-you-mean.js';
import { findValueByName } from '../ir/edit.js';
import type { Graph, Value } from '../ir/model.js';
import { OnnxError } from '../ir/onnx-error.js';

/** @throws OnnxError `unknown-value`. */
export function getNamedValue(graph: Graph, name: string): Value {
  const value = findValueByName(graph, name);
  if (value !== undefined) return value;
  const near = findNear(
    name,
    [...graph.values.values()].map(other => other.name),
  );
  throw new OnnxError(
    'unknown-value',
    `the graph "${graph.name}" has no value "${name}"`,
    near.length === 0 ? {} : { help: describeNear(near) },
  );
}
