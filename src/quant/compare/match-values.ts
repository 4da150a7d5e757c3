/** Matches values of a quantized or rewritten model with those of the original: by name, or else by equal computation. */
import { indexUses } from '../../onnx/ir/edit.js';
import type { Graph, Model, Node, Value, ValueId } from '../../onnx/ir/model.js';
import { addressValues } from '../calibration/value-address.js';

export interface ValueMatches {
  /** Pairs in graph order of the original. A value is in one pair at most. */
  readonly pairs: readonly { readonly original: Value; readonly other: Value }[];
  /** Computed values of the original without a counterpart, in graph order. */
  readonly unmatched: readonly Value[];
}

/** Which value represents a quantized tensor: the output of DequantizeLinear, or the value before QuantizeLinear (if both models are quantized, or neither is). */
export type Seen = 'dequantized' | 'as-computed';

/** Inputs and computed values. Where a value of `other` goes through QuantizeLinear and DequantizeLinear, the dequantized value is its counterpart. */
export function matchValues(original: Model, other: Model, seen: Seen = 'dequantized'): ValueMatches {
  const own = computedValues(original.graph);
  const others = computedValues(other.graph);
  const byName = new Map(others.map(value => [value.name, value]));
  const seenAs = seen === 'dequantized' ? findDequantized(other.graph) : new Map<ValueId, Value>();
  const findByAddress = addressFinder(original, other, others);
  const taken = new Set<ValueId>();
  const pairs: { original: Value; other: Value }[] = [];
  const unmatched: Value[] = [];
  for (const value of own) {
    const found = byName.get(value.name) ?? findByAddress(value);
    const partner = found === undefined ? undefined : (seenAs.get(found.id) ?? found);
    if (partner === undefined || taken.has(partner.id)) {
      unmatched.push(value);
      continue;
    }
    taken.add(partner.id);
    pairs.push({ original: value, other: partner });
  }
  return { pairs, unmatched };
}

/** Addresses take a digest of every constant: they are computed when the first name has no equal. */
function addressFinder(original: Model, other: Model, others: readonly Value[]): (value: Value) => Value | undefined {
  let found: { readonly addresses: ReadonlyMap<ValueId, string>; readonly byAddress: ReadonlyMap<string | undefined, Value> } | undefined;
  return value => {
    if (found === undefined) {
      const otherAddresses = addressValues(other);
      found = { addresses: addressValues(original), byAddress: new Map(others.map(one => [otherAddresses.get(one.id), one])) };
    }
    const address = found.addresses.get(value.id);
    return address === undefined ? undefined : found.byAddress.get(address);
  };
}

function computedValues({ inputs, nodes, values }: Graph): Value[] {
  const ids = [...inputs, ...[...nodes.values()].flatMap(node => node.outputs)];
  return ids.flatMap(id => {
    const value = id === undefined ? undefined : values.get(id);
    return value === undefined || value.constant !== undefined ? [] : [value];
  });
}

/** The output of DequantizeLinear for each value that a QuantizeLinear reads. */
function findDequantized(graph: Graph): ReadonlyMap<ValueId, Value> {
  const uses = indexUses(graph);
  const readers = (id: ValueId): Node[] => (uses.get(id) ?? []).map(use => use.node).filter(node => node.inputs[0] === id);
  const found = new Map<ValueId, Value>();
  for (const value of computedValues(graph)) {
    const quantized = readers(value.id).find(node => node.opType === 'QuantizeLinear')?.outputs[0];
    const dequantized =
      quantized === undefined ? undefined : readers(quantized).find(node => node.opType === 'DequantizeLinear')?.outputs[0];
    const seen = dequantized === undefined ? undefined : graph.values.get(dequantized);
    if (seen !== undefined) found.set(value.id, seen);
  }
  return found;
}
