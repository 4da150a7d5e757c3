/** What is known of the rewrite rules without their code: names, forms, proof classes, descriptions. Planning reads these, and loads no rule. */
import { findClosest } from '../../base/text/did-you-mean.js';
import type { ProofClass } from '../rewrite/rule.js';
import { RULE_FACTS } from './generated/rule-facts.js';

interface Facts {
  readonly proof: ProofClass;
  /** What the rule does, as one sentence without a full stop. */
  readonly description: string;
}

type RuleName = keyof typeof RULE_FACTS;
export type FormOf<Name extends RuleName> = keyof (typeof RULE_FACTS)[Name];

export interface RuleForm extends Facts {
  /** Undefined for the only form of a rule. */
  readonly form: string | undefined;
}

export interface RuleEntry {
  readonly name: string;
  readonly forms: readonly RuleForm[];
}

/** In the order of their names. */
export const REWRITE_RULES: readonly RuleEntry[] = Object.entries<Readonly<Record<string, Facts>>>(RULE_FACTS).map(([name, forms]) => ({
  name,
  forms: Object.entries(forms).map(([key, facts]) => ({ form: key === '' ? undefined : key, ...facts })),
}));

/** "clip/relu: Clip with … becomes Relu (exact)." for every form of every rule. */
export function describeRules(): string {
  const describe = (name: string, { form: key, description, proof }: RuleForm): string =>
    `${key === undefined ? name : `${name}/${key}`}: ${description} (${proof}).`;
  return REWRITE_RULES.flatMap(({ name, forms }) => forms.map(one => describe(name, one))).join(' ');
}

/** The form of the rule with these names, if it exists. */
export function findRuleForm(name: string, key: string | undefined): RuleForm | undefined {
  return REWRITE_RULES.find(entry => entry.name === name)?.forms.find(one => one.form === key);
}

export interface RuleProblem {
  readonly code: 'unknown-rule' | 'unknown-form';
  readonly message: string;
  readonly help: string;
}

/** The problem with the name of a rule or of its form, if any. */
export function findRuleProblem(name: string, key: string | undefined): RuleProblem | undefined {
  const rule = REWRITE_RULES.find(entry => entry.name === name);
  if (rule === undefined) {
    const names = REWRITE_RULES.map(entry => entry.name);
    return { code: 'unknown-rule', message: `unknown rule "${name}"`, help: listKnown('rules', name, names) };
  }
  if (rule.forms.some(one => one.form === key)) return undefined;
  const keys = rule.forms.flatMap(one => one.form ?? []);
  if (keys.length === 0)
    return { code: 'unknown-form', message: `rule ${name} has no form "${key}"`, help: 'remove `form`: this rule has no forms' };
  if (key === undefined) return { code: 'unknown-form', message: `rule ${name} needs a form`, help: listKnown('forms', '', keys) };
  return { code: 'unknown-form', message: `rule ${name} has no form "${key}"`, help: listKnown('forms', key, keys) };
}

function listKnown(what: string, name: string, all: readonly string[]): string {
  const closest = name === '' ? undefined : findClosest(name, all);
  return `known ${what}: ${all.join(', ')}${closest === undefined ? '' : `; did you mean "${closest}"?`}`;
}
