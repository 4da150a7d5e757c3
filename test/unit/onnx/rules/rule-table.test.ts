/** Tests of the rule table: the documentation has its rows, and the names of rules and forms are checked. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeRules, findRuleProblem, REWRITE_RULES } from '../../../../src/onnx/rules/rule-table.js';
import { getRule } from '../../../../src/onnx/rules/target/get-rule.js';
import { findProject } from '../../../arch/import-graph.js';

const page = readFileSync(join(findProject(dirname(fileURLToPath(import.meta.url))), 'docs/stages/rewrite.md'), 'utf8');

/** The rows of the table in docs/stages/rewrite.md. */
const ROWS = REWRITE_RULES.flatMap(({ name, forms }) =>
  forms.map(({ form, proof, description }, index) => {
    const label = index === 0 ? `\`${name}\`` : '';
    return `| ${label}${label === '' ? '' : ' '}| ${form === undefined ? '–' : `\`${form}\``} | ${proof} | ${description} |`;
  }),
);

describe('the rule table', () => {
  it('is the table of docs/stages/rewrite.md', () => {
    const documented = page.split('\n').filter(line => /\| (exact|rounding|approximate) \|/.test(line));
    expect(documented).toEqual(ROWS);
  });

  it('has code with the proof class of the table for every form', () => {
    for (const { name, forms } of REWRITE_RULES)
      for (const { form, proof } of forms)
        expect(getRule(name, form)).toMatchObject({ name, proof, proofText: expect.stringMatching(/\.$/) });
  });

  it('describes every form in one line', () => {
    expect(describeRules()).toContain('clip/relu: Clip with lower bound 0 and no upper bound becomes Relu (exact).');
    expect(describeRules()).toContain('softplus-relu: Softplus becomes Relu: error at most log 2 (approximate).');
  });

  it.each([
    ['conv-2d', undefined, 'unknown-rule', 'unknown rule "conv-2d"', 'did you mean "conv-1d"?'],
    ['conv-1d', 'fast', 'unknown-form', 'rule conv-1d has no form "fast"', 'remove `form`: this rule has no forms'],
    ['clip', undefined, 'unknown-form', 'rule clip needs a form', 'known forms: bounds, relu, relu-in-range, relu-unbounded'],
    ['clip', 'bound', 'unknown-form', 'rule clip has no form "bound"', 'did you mean "bounds"?'],
  ])('rejects rule %s with form %s', (name, form, code, message, help) => {
    expect(findRuleProblem(name, form)).toEqual({ code, message, help: expect.stringContaining(help) });
    expect(() => getRule(name, form)).toThrow(message);
  });
});
