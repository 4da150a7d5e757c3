/** Checks the attributes and shapes of units against the limits of the profile. */
import { assertNever } from '../../base/assert-never.js';
import { getInt } from '../../onnx/ir/attribute.js';
import type { Node } from '../../onnx/ir/model.js';
import { findConstantValue } from '../../onnx/rewrite/graph-view.js';
import { parseIntegerSet } from '../profile/integer-set.js';
import type { ActivationLimit, AttributeLimit, ConstantInputLimit, GroupLimit, Limit, SizeLimit } from '../profile/profile.js';
import type { Finding } from '../report/finding.js';
import { findQuantizedConstant, findWindow, formatSizes, inputOf, limitNameOf } from '../units/unit-facts.js';
import { elementsOf, isSameElement } from './attribute-elements.js';
import { computingNodes, makeFinding, type UnitCase } from './unit-case.js';

export function checkLimits(unitCase: UnitCase): readonly Finding[] {
  const { unit, target, model } = unitCase;
  if (unit.kind !== 'quantized' && unit.kind !== 'plain') return [];
  return computingNodes(unit).flatMap(node => {
    const name = limitNameOf(model, node);
    const meant = target.limits.filter(
      ({ ops, except = [] }) => ops.includes(name) || (ops.includes('*') && node === unit.target && !except.includes(name)),
    );
    return meant.flatMap(limit => check(limit, unitCase, node) ?? []);
  });
}

function check(limit: Limit, unitCase: UnitCase, node: Node): Finding | undefined {
  switch (limit.rule) {
    case 'kernel':
    case 'stride':
    case 'dilation':
    case 'rank':
    case 'outputs':
      return checkSizes(limit, unitCase, node);
    case 'groups':
      return checkGroups(limit, unitCase, node);
    case 'attribute':
      return checkAttribute(limit, unitCase, node);
    case 'constant-input':
      return checkConstantInputs(limit, unitCase, node);
    case 'activation':
      return checkActivation(limit, unitCase, node);
    default:
      return assertNever(limit);
  }
}

interface Failure {
  readonly measured: string;
  readonly limit: string;
  readonly message: string;
}

function fail(limit: Limit, { target, model }: UnitCase, node: Node, failure: Failure): Finding {
  return makeFinding(target, {
    rule: limit.rule,
    severity: limit.severity,
    ...failure,
    source: limit.source,
    note: limit.note,
    fix: { model, node, rules: limit.fixIts ?? [] },
  });
}

function checkSizes(limit: SizeLimit, unitCase: UnitCase, node: Node): Finding | undefined {
  const sizes = measure(limit.rule, unitCase, node);
  const allowed = parseIntegerSet(limit.allowed);
  if (sizes === undefined || allowed === undefined || sizes.every(size => allowed.has(size))) return undefined;
  const measured = `${limit.rule} ${formatSizes(sizes)}`;
  const where = sizes.length > 1 ? ' in each direction' : '';
  return fail(limit, unitCase, node, {
    measured,
    limit: `${allowed.text}${where}`,
    message: `the ${NAMES[limit.rule]} is ${formatSizes(sizes)}; the target supports ${allowed.text}${where}`,
  });
}

const NAMES: Readonly<Record<SizeLimit['rule'], string>> = {
  kernel: 'kernel',
  stride: 'stride',
  dilation: 'dilation',
  rank: 'rank of the input',
  outputs: 'number of outputs',
};

function measure(rule: SizeLimit['rule'], { model }: UnitCase, node: Node): readonly number[] | undefined {
  const dims = inputOf(model, node, 0)?.dims;
  switch (rule) {
    case 'kernel':
    case 'stride':
    case 'dilation':
      return findWindow(model, node)?.[rule];
    case 'rank':
      return dims === undefined ? undefined : [dims.length];
    case 'outputs':
      return [node.outputs.filter(output => output !== undefined).length];
    default:
      return assertNever(rule);
  }
}

function checkGroups(limit: GroupLimit, unitCase: UnitCase, node: Node): Finding | undefined {
  const group = getInt(node, 'group', 1);
  if (group === 1) return undefined;
  const weight = inputOf(unitCase.model, node, 1)?.dims;
  const [out, perGroup] = weight ?? [];
  if (typeof out !== 'number' || typeof perGroup !== 'number') return undefined;
  if (limit.allowed.includes('divisible') && out % group === 0) return undefined;
  const measured = `${group} groups of ${perGroup} channels, ${out} outputs`;
  const text = limit.allowed.includes('divisible') ? 'groups that divide both numbers of channels' : 'one group';
  return fail(limit, unitCase, node, { measured, limit: text, message: `it has ${measured}; the target supports ${text}` });
}

function checkAttribute(limit: AttributeLimit, unitCase: UnitCase, node: Node): Finding | undefined {
  const attribute = node.attributes.get(limit.name);
  const elements = attribute === undefined ? limit.default : elementsOf(attribute);
  if (elements.every(one => limit.allowed.some(known => isSameElement(known, one)))) return undefined;
  const measured = `${limit.name} ${elements.map(formatElement).join(', ')}`;
  const allowed = limit.allowed.map(formatElement).join(', ');
  return fail(limit, unitCase, node, { measured, limit: allowed, message: `${measured}; the target supports ${allowed}` });
}

function formatElement(value: number | string): string {
  return typeof value === 'string' || Number.isInteger(value) ? `${value}` : value.toPrecision(4);
}

function checkConstantInputs(limit: ConstantInputLimit, unitCase: UnitCase, node: Node): Finding | undefined {
  const { model, unit } = unitCase;
  const failing: string[] = [];
  for (const index of limit.inputs) {
    const id = node.inputs[index];
    const dequantizer = node === unit.target ? unit.dequantizers.get(index) : undefined;
    if (id === undefined) {
      if (limit.presence === 'required' && !hasAttributeInstead(node, index)) failing.push(`input ${index} is missing`);
    } else if (
      findConstantValue(model, id) === undefined &&
      (dequantizer === undefined || findQuantizedConstant(model, dequantizer) === undefined)
    ) {
      failing.push(`input ${index} ("${inputOf(model, node, index)?.name ?? ''}") is not constant`);
    }
  }
  if (failing.length === 0) return undefined;
  const which = limit.inputs.join(', ');
  return fail(limit, unitCase, node, {
    measured: failing.join(', '),
    limit: `input${limit.inputs.length === 1 ? '' : 's'} ${which} constant`,
    message: `${failing.join(', ')}; the target requires constants there`,
  });
}

/** Clip and Pad before opset 11 have attributes instead of these inputs. */
function hasAttributeInstead(node: Node, index: number): boolean {
  const name = node.opType === 'Clip' ? (['', 'min', 'max'][index] ?? '') : '';
  return name !== '' && node.attributes.has(name);
}

function checkActivation(limit: ActivationLimit, unitCase: UnitCase, node: Node): Finding | undefined {
  const { activation, target } = unitCase.unit;
  if (activation === undefined || node !== target || limit.allowed.includes(activation.opType)) return undefined;
  const allowed = limit.allowed.length === 0 ? 'none' : limit.allowed.join(', ');
  return fail(limit, unitCase, node, {
    measured: `${activation.opType} fused with ${node.opType}`,
    limit: allowed,
    message: `${activation.opType} is fused with it, without quantization between them; the target fuses ${allowed}`,
  });
}
