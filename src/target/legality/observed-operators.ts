/** Finds the observations about a node, and what they mean for its placement. */
import type { Attribute, Model, Node } from '../../onnx/ir/model.js';
import { findConstantValue } from '../../onnx/rewrite/graph-view.js';
import { parseIntegerSet } from '../profile/integer-set.js';
import { describeSeen, type Observed, type ObservedOperator, type Outcome } from '../profile/observation.js';
import type { Finding, Severity } from '../report/finding.js';
import type { NodeUnit } from '../units/node-units.js';
import { findQuantizedConstant, inputOf, limitNameOf, outputOf } from '../units/unit-facts.js';
import { elementsOf, isSameElement } from './attribute-elements.js';
import { makeFinding, type UnitCase } from './unit-case.js';

export function findObserved(unitCase: UnitCase, node: Node): readonly Observed[] {
  return unitCase.target.observations.filter(({ subject }) => subject.kind === 'operator' && fits(subject, unitCase, node));
}

/** The observation that such a node ran on the NPU of the chosen target, so that a blank in the vendor's table does not matter. */
export function findConfirmation(observed: readonly Observed[]): Observed | undefined {
  return observed.find(({ outcome, seen }) => outcome === 'npu' && seen === 'exactly');
}

/** A finding for an observation; none where the node ran on the NPU. */
export function reportObserved({ target, model }: UnitCase, node: Node, one: Observed): readonly Finding[] {
  if (one.outcome === 'npu') return [];
  return [
    makeFinding(target, {
      rule: 'observed',
      severity: severityOf(one),
      measured: limitNameOf(model, node),
      limit: `seen on ${describeSeen(one)}`,
      message: MESSAGES[one.outcome],
      note: one.note,
      source: one.source,
      fix: { model, node, rules: one.fixIts ?? [] },
    }),
  ];
}

/** What was seen in an earlier version only, or on a device without a name, is a warning. */
export function severityOf({ outcome, seen }: Observed): Severity {
  if (seen === 'nearby' || outcome === 'mixed' || outcome === 'unreliable' || outcome === 'npu') return 'warning';
  return outcome === 'wrong' ? 'error' : 'refused';
}

const MESSAGES: Readonly<Record<Exclude<Outcome, 'npu'>, string>> = {
  cpu: 'such nodes were observed on the CPU',
  mixed: 'such nodes were observed on the NPU and on the CPU',
  'whole-model': 'with such nodes the whole model was observed on the CPU',
  wrong: 'such nodes were observed on the NPU with wrong results',
  unreliable: 'such nodes were observed on the NPU with wrong results in some models',
  fails: 'the compilation of such nodes was observed to fail',
};

function fits({ ops, attributes = {}, rank, only }: ObservedOperator, { model, unit }: UnitCase, node: Node): boolean {
  if (node.domain !== '') return false;
  if (!ops.includes(limitNameOf(model, node)) && !(ops.includes('*') && node === unit.target)) return false;
  const named = Object.entries(attributes);
  if (!named.every(([name, values]) => valuesOf(node.attributes.get(name)).every(one => values.some(known => isSameElement(known, one)))))
    return false;
  const dims = inputOf(model, node, 0)?.dims;
  if (rank !== undefined && (dims === undefined || parseIntegerSet(rank)?.has(dims.length) !== true)) return false;
  if (only === undefined) return true;
  return only === 'smaller' ? isSmaller(model, node) : hasNoConstant(model, unit, node);
}

/** Whether an output size is below that of the input. */
function isSmaller(model: Model, node: Node): boolean {
  const dims = inputOf(model, node, 0)?.dims;
  const sizes = outputOf(model, node)?.dims ?? [];
  return sizes.some((size, axis) => typeof size === 'number' && size < Number(dims?.[axis] ?? 0));
}

function hasNoConstant(model: Model, unit: NodeUnit, node: Node): boolean {
  return node.inputs.every((input, index) => {
    const dequantizer = unit.dequantizers.get(index);
    return (dequantizer === undefined ? findConstantValue(model, input) : findQuantizedConstant(model, dequantizer)) === undefined;
  });
}

function valuesOf(attribute: Attribute | undefined): readonly (number | string)[] {
  return attribute === undefined ? [''] : elementsOf(attribute);
}
