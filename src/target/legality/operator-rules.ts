/** Checks whether the vendor documents an operator for the data type. Operators without an entry are reported as undocumented, with other known facts. */
import type { Node } from '../../onnx/ir/model.js';
import { describeSeen, type Observed } from '../profile/observation.js';
import type { Finding } from '../report/finding.js';
import { limitNameOf } from '../units/unit-facts.js';
import { findConfirmation, findObserved, reportObserved } from './observed-operators.js';
import { computingNodes, makeFinding, type UnitCase } from './unit-case.js';

export function checkOperators(unitCase: UnitCase): readonly Finding[] {
  const { unit } = unitCase;
  if (unit.kind !== 'quantized' && unit.kind !== 'plain') return [];
  return computingNodes(unit).flatMap(node => {
    const observed = findObserved(unitCase, node);
    const blank = checkOperator(unitCase, node);
    return [...blank.map(finding => confirm(unitCase, finding, observed)), ...observed.flatMap(one => reportObserved(unitCase, node, one))];
  });
}

/** A blank in the table that a board filled: the node stays on the NPU, with a warning. */
function confirm({ target }: UnitCase, blank: Finding, observed: readonly Observed[]): Finding {
  const seen = findConfirmation(observed);
  if (seen === undefined) return blank;
  return makeFinding(target, {
    rule: 'observed',
    severity: 'warning',
    measured: blank.measured,
    limit: `seen on ${describeSeen(seen)}`,
    message: `${blank.message}; such nodes were observed on the NPU`,
    note: seen.note,
    source: seen.source,
  });
}

function checkOperator({ target, model }: UnitCase, node: Node): readonly Finding[] {
  const { identity, operators } = target;
  const name = limitNameOf(model, node);
  const documented = node.domain === '' && Object.hasOwn(operators.documented, name) ? (operators.documented[name] ?? []) : [];
  if (documented.includes(identity.dtype)) return [];
  const shown = node.domain === '' ? name : `${node.domain}::${name}`;
  const notes = target.operatorNotes.filter(note => node.domain === '' && note.ops.includes(name));
  return [
    makeFinding(target, {
      rule: 'operator',
      severity: 'undocumented',
      measured: shown,
      limit: documented.length === 0 ? `no data type of ${shown} is documented` : `${shown} is documented for ${documented.join(', ')}`,
      message: `${shown} is not documented for ${identity.dtype} in version ${identity.version}${documented.length === 0 ? '' : `, only for ${documented.join(', ')}`}`,
      source: operators.source,
      note: notes.length === 0 ? undefined : notes.map(note => note.note).join(' '),
      fix: { model, node, rules: notes.flatMap(note => note.fixIts) },
    }),
  ];
}
