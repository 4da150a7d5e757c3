/** Checks that all shapes of a unit are known, and that its activations are not scalars. Constants are exempt. */
import { findConstantValue } from '../../onnx/rewrite/graph-view.js';
import { isStatic } from '../../onnx/shape-inference/context/dims.js';
import type { Finding } from '../report/finding.js';
import { formatSizes, type KnownTensor, tensorOf } from '../units/unit-facts.js';
import { makeFinding, type UnitCase } from './unit-case.js';

export function checkShapes({ target, model, unit }: UnitCase): readonly Finding[] {
  const source = target.graph.staticShapes.source;
  const inputs = unit.target.inputs.flatMap(id =>
    id === undefined || findConstantValue(model, id) !== undefined ? [] : [tensorOf(model, id)],
  );
  const outputs = unit.target.outputs.flatMap(id => (id === undefined ? [] : [tensorOf(model, id)]));
  const findings: Finding[] = [];
  for (const tensor of new Map([...inputs, ...outputs].map(one => [one.name, one] as const)).values()) {
    const problem = findProblem(tensor);
    if (problem !== undefined) {
      const measured = `"${tensor.name}" ${tensor.dims === undefined ? 'of unknown rank' : formatSizes(tensor.dims)}`;
      findings.push(
        makeFinding(target, {
          rule: problem.rule,
          measured,
          limit: 'known sizes above 0',
          message: `${measured}: ${problem.text}`,
          source,
        }),
      );
    }
  }
  const isScalar = ({ dims }: KnownTensor): boolean => dims?.length === 0;
  const scalar = outputs.find(isScalar) ?? (inputs.length > 0 && inputs.every(isScalar) ? inputs[0] : undefined);
  if (scalar !== undefined) {
    const measured = `"${scalar.name}" is a scalar`;
    findings.push(makeFinding(target, { rule: 'scalar', measured, limit: 'tensors with a rank', message: measured, source }));
  }
  return findings;
}

function findProblem({ dims }: KnownTensor): { readonly rule: string; readonly text: string } | undefined {
  if (!isStatic(dims)) return { rule: 'shape-dynamic', text: 'a size is not fixed' };
  return dims.includes(0) ? { rule: 'shape-empty', text: 'a size is 0' } : undefined;
}
