/** Tests that every change of an operator between operator sets has a conversion step. Oracle: the version table of the specification. */
import { NEWEST_OPSET, OLDEST_OPSET } from '../../../../src/onnx/opset/opset-range.js';
import { RAISING_STEPS } from '../../../../src/onnx/opset/raising-steps.js';
import { countAllowed, type OperatorSchema } from '../../../../src/onnx/schemas/operator-schema.js';
import { schemasByDomain } from '../../../../src/onnx/schemas/parse-schemas.js';

interface Change {
  readonly operator: string;
  readonly opset: number;
  readonly what: readonly string[];
}

/** What a node that was right under `before` may say, or leave out, that is not right under `after`. */
function listBreaks(before: OperatorSchema, after: OperatorSchema): readonly string[] {
  const gone = [...before.attributes.keys()].filter(name => !after.attributes.has(name)).map(name => `no attribute ${name}`);
  const asked = [...after.attributes]
    .filter(([name, { required }]) => required && before.attributes.get(name)?.required !== true)
    .map(([name]) => `attribute ${name} is required`);
  const kinds = [...before.attributes]
    .filter(([name, { kind }]) => (after.attributes.get(name)?.kind ?? kind) !== kind)
    .map(([name]) => `kind of ${name}`);
  const [inputs, outputs] = [
    [countAllowed(before.inputs), countAllowed(after.inputs)],
    [countAllowed(before.outputs), countAllowed(after.outputs)],
  ].map(([was, is]) => was !== undefined && is !== undefined && (is.least > was.least || is.most < was.most));
  return [...gone, ...asked, ...kinds, ...(inputs === true ? ['inputs'] : []), ...(outputs === true ? ['outputs'] : [])];
}

function listChanges(): readonly Change[] {
  const changes: Change[] = [];
  for (const [operator, versions] of schemasByDomain().get('')?.operators ?? []) {
    for (const [index, version] of versions.entries()) {
      const before = versions[index - 1];
      if (version.since <= OLDEST_OPSET || version.since > NEWEST_OPSET || before?.kind !== 'defined') continue;
      const what = version.kind === 'deprecated' ? ['gone'] : listBreaks(before.schema(), version.schema());
      if (what.length > 0) changes.push({ operator, opset: version.since, what });
    }
  }
  return changes;
}

describe('the steps between operator sets', () => {
  const changes = listChanges();

  it('are one per version that removes a feature or adds a requirement', () => {
    expect(changes.length).toBeGreaterThan(40);
    expect(changes.filter(({ operator, opset }) => RAISING_STEPS[operator]?.[opset] === undefined)).toEqual([]);
  });

  it('are steps to versions that there are', () => {
    const operators = schemasByDomain().get('')?.operators;
    const wrong = Object.entries(RAISING_STEPS).flatMap(([operator, steps]) =>
      Object.keys(steps)
        .filter(opset => !operators?.get(operator)?.some(({ since }) => since === Number(opset)))
        .map(opset => `${operator} ${opset}`),
    );
    expect(wrong).toEqual([]);
  });
});
