/** Structural differences between two models. Values are matched by name, then by the digest of how they are computed. */

import { digestValues } from '../analysis/content-digest.js';
import type { Graph, Model, Value, ValueId } from '../ir/model.js';
import { describeType } from '../text/describe-type.js';
import { diffConstants } from './diff-constants.js';
import { diffNodes } from './diff-nodes.js';
import { changed, type Difference, type Partners } from './difference.js';

/**
 * Differences between the main graphs and the headers of `before` and `after`. Subgraphs are compared as text. The order of nodes, doc strings, metadata, and
 * whether initializers are also listed as inputs are ignored. @throws OnnxError `graph-cycle`.
 */
export function diffModels(before: Model, after: Model): readonly Difference[] {
  const [left, right] = [before.graph, after.graph];
  const partners = pairValues(before, after);
  return [
    ...diffHeadings(before, after),
    ...diffEnds('input', left, right),
    ...diffEnds('output', left, right),
    ...diffConstants(left, right, partners),
    ...diffNodes(left, right, partners),
  ];
}

function pairValues(before: Model, after: Model): Partners {
  const byName = new Map([...after.graph.values.values()].map(value => [value.name, value]));
  const pairs = new Map<ValueId, Value>();
  const taken = new Set<ValueId>();
  for (const value of before.graph.values.values()) {
    const other = byName.get(value.name);
    if (other === undefined) continue;
    pairs.set(value.id, other);
    taken.add(other.id);
  }
  const free = [...after.graph.values.values()].filter(({ id }) => !taken.has(id));
  if (free.length === 0 || pairs.size === before.graph.values.size) return pairs;
  const [own, others] = [digestValues(before), digestValues(after)];
  const byDigest = new Map(free.toReversed().map(value => [others.get(value.id), value]));
  for (const value of before.graph.values.values()) {
    const digest = own.get(value.id);
    const other = pairs.has(value.id) || digest === undefined ? undefined : byDigest.get(digest);
    if (other === undefined || taken.has(other.id)) continue;
    pairs.set(value.id, other);
    taken.add(other.id);
  }
  return pairs;
}

function diffHeadings(before: Model, after: Model): Difference[] {
  const fields = (model: Model): [string, string][] => [
    ['IR version', String(model.irVersion)],
    ...[...model.opsets].map(([domain, version]): [string, string] => [`operator set "${domain}"`, String(version)]),
    ['uninterpreted fields', `${model.unknown.reduce((sum, bytes) => sum + bytes.byteLength, 0)} bytes`],
  ];
  const [own, others] = [new Map(fields(before)), new Map(fields(after))];
  return [...new Set([...own.keys(), ...others.keys()])].flatMap(field => changed('model', '', field, own.get(field), others.get(field)));
}

function diffEnds(what: 'input' | 'output', before: Graph, after: Graph): Difference[] {
  const list = (graph: Graph): Value[] =>
    (what === 'input' ? graph.inputs : graph.outputs).flatMap(id => {
      const value = graph.values.get(id);
      return value === undefined || (what === 'input' && value.constant !== undefined) ? [] : [value];
    });
  const [own, others] = [list(before), list(after)];
  const otherOf = (name: string): Value | undefined => others.find(other => other.name === name);
  const both = own.filter(({ name }) => otherOf(name) !== undefined).map(({ name }) => name);
  const order = others.filter(({ name }) => both.includes(name)).map(({ name }) => name);
  return [
    ...own.flatMap(({ name, type }): Difference[] => {
      const other = otherOf(name);
      if (other === undefined) return [{ kind: 'removed', what, name, is: describeType(type) }];
      return changed(what, name, 'type', describeType(type), describeType(other.type));
    }),
    ...others.flatMap(({ name, type }): Difference[] =>
      own.some(value => value.name === name) ? [] : [{ kind: 'added', what, name, is: describeType(type) }],
    ),
    ...changed(what, '', 'order', both.join(', '), order.join(', ')),
  ];
}
