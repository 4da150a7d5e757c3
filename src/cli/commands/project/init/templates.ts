/** The templates of `tanren init`: files of the package with a trained example, and drafts for a model of the user. */
import { keysOf } from '../../../../base/keys-of.js';

const FIRST_FILE = 'pipeline.yaml';

/** Pipeline files of the package, by the name of the template. */
const EXAMPLES = { maskrcnn: FIRST_FILE, yolact: 'pipelines/yolact-shapes.yaml' } as const;

/** What `--template` says of the model. */
const DRAFTS = { classifier: 'a score per class', plain: 'any outputs' } as const;

export type Example = keyof typeof EXAMPLES;

export type DraftTemplate = keyof typeof DRAFTS;

export type Template = Example | DraftTemplate;

export const TEMPLATES: readonly Template[] = [...keysOf(EXAMPLES), ...keysOf(DRAFTS)];

export function isExample(template: Template | undefined): template is Example {
  return template !== undefined && template in EXAMPLES;
}

/** Relative to the package. @param example the first one if it is undefined. */
export function fileOf(example: Example | undefined): string {
  return example === undefined ? FIRST_FILE : EXAMPLES[example];
}
