/** Which rules can a pipeline name? */
import { findClosest } from '../../../base/did-you-mean.js';
import { OnnxError } from '../../onnx-error.js';
import type { RewriteRule } from '../rule.js';
import { MAXPOOL_FORMS, type MaxPoolForm, maxPool1x1 } from './maxpool-1x1.js';

/** A rule that comes in forms, by the name that a pipeline gives it. */
export interface RuleEntry {
  readonly name: string;
  readonly description: string;
  readonly forms: readonly string[];
  readonly make: (form: string) => RewriteRule;
}

export const RULES: readonly RuleEntry[] = [
  {
    name: 'maxpool-1x1',
    description: 'MaxPool with a 1×1 kernel and stride 2, which some NPUs refuse: 3x3 (approximate), depthwise or slice (exact).',
    forms: MAXPOOL_FORMS,
    make: form => maxPool1x1(form as MaxPoolForm),
  },
];

/** The rule that `name` and `form` name. @throws OnnxError `unknown-rule`, `unknown-form`. */
export function getRule(name: string, form: string | undefined): RewriteRule {
  const entry = RULES.find(rule => rule.name === name);
  if (entry === undefined)
    throw unknown(
      'unknown-rule',
      'rule',
      name,
      RULES.map(rule => rule.name),
    );
  if (form === undefined) {
    throw new OnnxError('unknown-form', `rule ${name} needs a form`, { help: `it has ${entry.forms.join(', ')}` });
  }
  if (!entry.forms.includes(form)) throw unknown('unknown-form', `form of rule ${name}`, form, entry.forms);
  return entry.make(form);
}

function unknown(code: string, what: string, name: string, all: readonly string[]): OnnxError {
  const closest = findClosest(name, all);
  const help = `there is ${all.join(', ')}${closest === undefined ? '' : `; did you mean "${closest}"?`}`;
  return new OnnxError(code, `there is no ${what} "${name}"`, { help });
}
