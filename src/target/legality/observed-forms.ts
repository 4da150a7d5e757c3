/** Finds forms of quantization that put a whole model on the CPU, or make a board compute wrong values, as observed. */
import { getValue } from '../../onnx/ir/edit.js';
import type { Node } from '../../onnx/ir/model.js';
import type { Target } from '../profile/choose-target.js';
import { describeSeen, type Observed, type QuantizationForm } from '../profile/observation.js';
import type { Finding } from '../report/finding.js';
import type { NodeUnit, UnitGraph } from '../units/node-units.js';
import { findQParams, limitNameOf } from '../units/unit-facts.js';
import { severityOf } from './observed-operators.js';
import { makeFinding, type UnitCase } from './unit-case.js';

/** The observation about `form` for the chosen target; one that fits exactly first. */
export function findForm({ observations }: Target, form: QuantizationForm): Observed | undefined {
  const all = observations.filter(({ subject }) => subject.kind === 'form' && subject.form === form);
  return all.find(({ seen }) => seen === 'exactly') ?? all[0];
}

interface Judged {
  readonly findings: readonly Finding[];
}

/** Findings about the model as a whole; one that is no warning puts all of it on the CPU. */
export function checkForms(graph: UnitGraph, target: Target, verdicts: readonly Judged[]): readonly Finding[] {
  return [...checkDomain(graph, target), ...checkPerChannel(graph, target), ...checkTail(graph, target, verdicts)];
}

function checkDomain({ model }: UnitGraph, target: Target): readonly Finding[] {
  const foreign = [...model.graph.nodes.values()].filter(({ opType, domain }) => /^(De)?QuantizeLinear$/.test(opType) && domain !== '');
  return report(target, 'com.microsoft', 'qdq-domain', count(foreign.length, 'Q or DQ node', 'of another domain than ai.onnx'));
}

function checkPerChannel({ model, units }: UnitGraph, target: Target): readonly Finding[] {
  const dequantizers = units.flatMap(unit => [...unit.dequantizers.values()]);
  const vectors = dequantizers.filter(node => findQParams(model, node)?.axis !== undefined);
  return report(target, 'per-channel', 'per-channel', count(vectors.length, 'tensor', 'with per-channel scales'));
}

/** Operators in float of which only other such operators and model outputs read the results. Reshapes are not counted. */
function checkTail(graph: UnitGraph, target: Target, verdicts: readonly Judged[]): readonly Finding[] {
  const tail = new Set<number>();
  for (const unit of [...graph.units].reverse()) {
    if (!isIsland(verdicts[unit.id])) continue;
    const after = graph.after[unit.id] ?? [];
    if (after.every(reader => tail.has(reader)) && (after.length > 0 || givesOutput(graph, unit))) tail.add(unit.id);
  }
  const computing = [...tail].filter(id => !target.graph.trailing.value.includes(graph.units[id]?.target.opType ?? ''));
  return report(target, 'float-tail', 'float-tail', count(computing.length, 'operator', 'in float before an output of the model'));
}

function isIsland(verdict: Judged | undefined): boolean {
  return verdict?.findings.some(({ rule }) => rule === 'float-island') === true;
}

function givesOutput({ model }: UnitGraph, { target }: NodeUnit): boolean {
  return target.outputs.some(id => id !== undefined && model.graph.outputs.includes(id));
}

function count(number: number, what: string, which: string): string | undefined {
  return number === 0 ? undefined : `${number} ${what}${number === 1 ? '' : 's'} ${which}`;
}

function report(target: Target, form: QuantizationForm, rule: string, measured: string | undefined): readonly Finding[] {
  const seen = findForm(target, form);
  if (measured === undefined || seen === undefined || seen.outcome === 'npu') return [];
  return [
    makeFinding(target, {
      rule,
      severity: severityOf(seen),
      measured,
      limit: `seen on ${describeSeen(seen)}`,
      message: `it has ${measured}; with such a form no part of a model was observed on the NPU`,
      note: seen.note,
      source: seen.source,
    }),
  ];
}

/** An int32 bias with the scale of the products it is added to. */
export function checkProductBias({ target, model, unit }: UnitCase): readonly Finding[] {
  const seen = findForm(target, 'product-bias');
  const bias = unit.dequantizers.get(2);
  if (seen === undefined || seen.outcome === 'npu' || bias === undefined || !BIASED.has(limitNameOf(model, unit.target))) return [];
  const scaleOf = (node: Node | undefined): number | undefined => (node === undefined ? undefined : findQParams(model, node)?.scales[0]);
  const [input, weight, own] = [scaleOf(unit.dequantizers.get(0)), scaleOf(unit.dequantizers.get(1)), scaleOf(bias)];
  if (input === undefined || weight === undefined || findQParams(model, bias)?.dtype !== 'int32') return [];
  if (own !== Math.fround(input * weight)) return [];
  const name = bias.inputs[0] === undefined ? '' : getValue(model.graph, bias.inputs[0]).name;
  return [
    makeFinding(target, {
      rule: 'bias-scale',
      severity: severityOf(seen),
      measured: `int32 bias "${name}" with scale input · weight`,
      limit: `seen on ${describeSeen(seen)}`,
      message: `its int32 bias "${name}" has the scale of input · weight; such a model was observed on the NPU with wrong results`,
      note: seen.note,
      source: seen.source,
    }),
  ];
}

const BIASED = new Set(['Conv', 'DepthwiseConv', 'ConvTranspose', 'Gemm']);
