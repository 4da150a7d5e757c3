/** Which rules can a pipeline name, and in which forms? Plain data, light enough for planning. */
import { findClosest } from '../../../base/did-you-mean.js';

export const MAXPOOL_FORMS = ['3x3', 'depthwise', 'slice'] as const;
export type MaxPoolForm = (typeof MAXPOOL_FORMS)[number];

export interface RuleEntry {
  readonly name: string;
  readonly description: string;
  /** Empty: there is one form, which has no name. */
  readonly forms: readonly string[];
}

export const RULE_LIST = [
  {
    name: 'maxpool-1x1',
    description: 'MaxPool with a 1×1 kernel and stride 2, which some NPUs refuse: 3x3 (approximate), depthwise or slice (exact).',
    forms: MAXPOOL_FORMS,
  },
  {
    name: 'conv-transpose-depth-to-space',
    description: 'ConvTranspose whose square kernel is its stride, which some NPUs refuse, as a 1×1 Conv and DepthToSpace (exact).',
    forms: [],
  },
] as const satisfies readonly RuleEntry[];

export interface RuleProblem {
  readonly code: 'unknown-rule' | 'unknown-form';
  readonly message: string;
  readonly help: string;
}

/** What is wrong with the name of a rule, or with its form? */
export function findRuleProblem(name: string, form: string | undefined): RuleProblem | undefined {
  const rules: readonly RuleEntry[] = RULE_LIST;
  const rule = rules.find(entry => entry.name === name);
  if (rule === undefined) {
    const names = rules.map(entry => entry.name);
    return { code: 'unknown-rule', message: `there is no rule "${name}"`, help: suggest(name, names) };
  }
  if (rule.forms.length === 0) {
    if (form === undefined) return undefined;
    return {
      code: 'unknown-form',
      message: `rule ${name} has no form "${form}"`,
      help: 'it has one form, which has no name: leave `form` out',
    };
  }
  if (form === undefined) return { code: 'unknown-form', message: `rule ${name} needs a form`, help: suggest('', rule.forms) };
  if (rule.forms.includes(form)) return undefined;
  return { code: 'unknown-form', message: `rule ${name} has no form "${form}"`, help: suggest(form, rule.forms) };
}

function suggest(name: string, all: readonly string[]): string {
  const closest = name === '' ? undefined : findClosest(name, all);
  return `there is ${all.join(', ')}${closest === undefined ? '' : `; did you mean "${closest}"?`}`;
}
