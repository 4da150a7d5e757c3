/** Fix-its: the `rewrite` rules named by the profile that fit a node and would make it legal. Each rule states its proof. */
import { findInts, getInt, getString } from '../../onnx/ir/attribute.js';
import type { Model, Node } from '../../onnx/ir/model.js';
import { REWRITE_RULES } from '../../onnx/rules/rule-table.js';
import { getRule } from '../../onnx/rules/target/get-rule.js';
import type { FixIt } from '../report/finding.js';
import { findWindow } from '../units/unit-facts.js';

/** The forms of rule `name` that fit `node`, exact forms first; empty if the rule would decline. */
export function findFixIts(name: string, model: Model, node: Node): readonly FixIt[] {
  const entry = REWRITE_RULES.find(rule => rule.name === name);
  if (entry === undefined || FITS[name]?.(model, node) === false) return [];
  const fixIts = entry.forms.map(({ form }) => {
    const { proof, proofText } = getRule(name, form);
    return { rule: name, ...(form === undefined ? {} : { form }), effect: proof, note: proofText };
  });
  return fixIts.sort((a, b) => ORDER.indexOf(a.effect) - ORDER.indexOf(b.effect));
}

const ORDER: readonly FixIt['effect'][] = ['exact', 'rounding', 'approximate'];

/** Rules match float models. For a quantized node, these checks of its attributes decide. */
const FITS: Readonly<Record<string, (model: Model, node: Node) => boolean>> = {
  'maxpool-1x1': (model, node) => {
    const window = findWindow(model, node);
    if (window === undefined) return false;
    return window.kernel.every(size => size === 1) && window.stride.every(stride => stride === 2);
  },
  'conv-transpose-depth-to-space': (model, node) => {
    const window = findWindow(model, node);
    const [first] = window?.kernel ?? [];
    if (window === undefined || window.kernel.length !== 2) return false;
    const square = [...window.kernel, ...window.stride].every(size => size === first);
    const plain = [...(findInts(node, 'pads') ?? []), ...(findInts(node, 'output_padding') ?? [])].every(size => size === 0);
    return (
      square &&
      plain &&
      window.dilation.every(one => one === 1) &&
      getInt(node, 'group', 1) === 1 &&
      getString(node, 'auto_pad', 'NOTSET') !== 'SAME_UPPER' &&
      getString(node, 'auto_pad', 'NOTSET') !== 'SAME_LOWER'
    );
  },
};
