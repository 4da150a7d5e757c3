/** Finds why a node of a quantized model computes in float, and names its neighbors without Q or DQ. */
import { getValue } from '../../onnx/ir/edit.js';
import type { Node } from '../../onnx/ir/model.js';
import { findConstantValue } from '../../onnx/rewrite/graph-view.js';
import type { Finding } from '../report/finding.js';
import { tensorOf } from '../units/unit-facts.js';
import { makeFinding, type UnitCase } from './unit-case.js';

const FLOATS = new Set(['float32', 'float64', 'float16', 'bfloat16']);

export function checkIsland(unitCase: UnitCase): readonly Finding[] {
  const { unit, mode, model, target } = unitCase;
  if (mode === 'float' || unit.kind !== 'plain') return [];
  const { source } = target.dtype.activations;
  const results = unit.target.outputs.filter(id => id !== undefined).map(id => tensorOf(model, id));
  const other = results.find(({ dtype }) => dtype !== undefined && !FLOATS.has(dtype));
  if (other !== undefined) {
    const measured = `"${other.name}" ${other.dtype}`;
    return [
      makeFinding(target, {
        rule: 'not-quantized',
        measured,
        limit: 'quantized values',
        message: `its output is ${other.dtype}, not quantized`,
        source,
      }),
    ];
  }
  const reasons = [...floatInputs(unitCase, unit.target), ...floatOutputs(unitCase, unit.target)];
  const measured = reasons.length === 0 ? 'no quantized input' : reasons.join('; ');
  return [
    makeFinding(target, {
      rule: 'float-island',
      measured,
      limit: 'DequantizeLinear before every input, QuantizeLinear after every output',
      message: `it computes in float: ${measured}`,
      source,
    }),
  ];
}

function floatInputs({ model }: UnitCase, node: Node): readonly string[] {
  return node.inputs.flatMap(id => {
    if (id === undefined || findConstantValue(model, id) !== undefined) return [];
    const { producer, name } = getValue(model.graph, id);
    const from = producer === undefined ? undefined : model.graph.nodes.get(producer);
    return from?.opType === 'DequantizeLinear' ? [] : [`input "${name}" is not quantized`];
  });
}

function floatOutputs({ model, graph, unit }: UnitCase, node: Node): readonly string[] {
  const readers = (graph.after[unit.id] ?? []).map(id => graph.units[id]?.target);
  const other = readers.find(reader => reader !== undefined && reader.opType !== 'QuantizeLinear');
  const output = node.outputs.find(id => id !== undefined);
  if (output === undefined) return [];
  const { name } = getValue(model.graph, output);
  if (other !== undefined) return [`${other.opType} reads "${name}" without QuantizeLinear`];
  return model.graph.outputs.includes(output) ? [`model output "${name}" is not quantized`] : [];
}
