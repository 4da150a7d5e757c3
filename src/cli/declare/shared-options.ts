/** Options that several commands share. */
import { EXECUTORS } from '../../engine/model/plan.js';
import { choice, flag, optional, optionalChoice, repeated, value } from './option.js';
import { parseCount, parseText } from './values.js';

export const file = value('-f, --file <path>', 'pipeline file', parseText, { value: 'pipeline.yaml', shown: 'pipeline.yaml' });

/** The options of every command on a pipeline. */
export const PIPELINE = {
  file,
  param: repeated('-p, --param <name=value>', 'set a parameter of the pipeline', parseText),
  paramsFile: repeated('--params-file <path>', 'YAML map of parameters; -p overrides it', parseText),
};

export const json = flag('--json', 'print one JSON document on stdout');

/** Options of commands that build with a remote cache. */
export const REMOTE = {
  remoteCache: optional(
    '--remote-cache <url>',
    'remote cache: grpcs://host/instance or https://host/path (default: TANREN_REMOTE_CACHE)',
    parseText,
  ),
  remote: flag('--no-remote', 'use no remote cache'),
  remoteOnly: flag('--remote-only', 'use only results of the remote cache, not those in cache/'),
  requireRemote: flag('--require-remote', 'fail the build if the remote cache fails'),
  download: choice(
    '--download <choice>',
    'which outputs come from the remote cache although nothing here reads them',
    ['all', 'targets', 'none'],
    'all',
  ),
  executor: optionalChoice(
    '--executor <choice>',
    'local: stages run here; auto: on workers of the remote server if possible; remote: only there (default: as each stage says)',
    EXECUTORS,
  ),
  remoteJobs: optional('--remote-jobs <n>', 'actions that remote workers run at once (default: 100)', parseCount),
  remoteWrite: optionalChoice('--remote-write <choice>', 'whether results go to the remote cache (default: TANREN_REMOTE_WRITE)', [
    'yes',
    'no',
  ]),
};

/** The option of commands that look up results. */
export const cache = optional(
  '--cache <folder>',
  'cache that several checkouts share, used in addition to cache/ (default: TANREN_CACHE)',
  parseText,
);
