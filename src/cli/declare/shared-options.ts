/** Options that several commands share. */
import { flag, optional, repeated, value } from './option.js';
import { parseText } from './values.js';

export const file = value('-f, --file <path>', 'pipeline file', parseText, { value: 'pipeline.yaml', shown: 'pipeline.yaml' });

/** The options of every command on a pipeline. */
export const PIPELINE = {
  file,
  param: repeated('-p, --param <name=value>', 'set a parameter of the pipeline', parseText),
  paramsFile: repeated('--params-file <path>', 'YAML map of parameters; -p overrides it', parseText),
};

export const json = flag('--json', 'print one JSON document on stdout');

/** The option of commands that look up results. */
export const cache = optional(
  '--cache <folder>',
  'cache that several checkouts share, used in addition to cache/ (default: TANREN_CACHE)',
  parseText,
);
