/** Reads a build request from plain arguments. All other forms are left to the argument parser, and the no-op record never answers them. */
import { resolve } from 'node:path';
import { VERSION } from '../process/version.js';

export interface BuildRequest {
  /** Absolute. */
  readonly file: string;
  readonly targets: readonly string[];
  readonly assignments: readonly string[];
  /** Absolute. */
  readonly paramsFiles: readonly string[];
  /** 'text': if there is nothing to do, the answer is lines of text for people. */
  readonly answer: 'text' | 'other';
}

const WITH_VALUE: Readonly<Record<string, 'file' | 'param' | 'params-file' | 'jobs'>> = {
  '-f': 'file',
  '--file': 'file',
  '-p': 'param',
  '--param': 'param',
  '--params-file': 'params-file',
  '-j': 'jobs',
  '--jobs': 'jobs',
};

/** The request of `tanren build …`; undefined if an argument is not recognized here. */
export function readBuildRequest(argv: readonly string[], cwd: string): BuildRequest | undefined {
  if (argv[0] !== 'build') return undefined;
  const values = { file: ['pipeline.yaml'], param: [] as string[], 'params-file': [] as string[], jobs: [] as string[] };
  const targets: string[] = [];
  let answer: BuildRequest['answer'] = 'text';
  for (let i = 1; i < argv.length; i++) {
    const word = argv[i] ?? '';
    const takes = WITH_VALUE[word];
    if (takes !== undefined) {
      const value = argv[++i];
      if (value === undefined || value === '' || value.startsWith('-')) return undefined;
      values[takes].push(value);
    } else if (word === '--json' || word === '--force' || word === '--rehash') answer = 'other';
    else if (word.startsWith('-') && word !== '-k' && word !== '--keep-going') return undefined;
    else if (!word.startsWith('-')) targets.push(word);
  }
  if (!values.jobs.every(jobs => /^[1-9]\d{0,5}$/.test(jobs))) return undefined;
  return {
    file: resolve(cwd, values.file.at(-1) ?? ''),
    targets,
    assignments: values.param,
    paramsFiles: values['params-file'].map(file => resolve(cwd, file)),
    answer,
  };
}

/**
 * The text of a request. Requests with equal texts have equal answers as long as nothing on the disk changes.
 * It therefore includes the versions of Tanren and Node, and the environment variables that start with TANREN_.
 * Those of the remote cache are left out: one holds a token, and a build with nothing to do does not use that cache.
 */
export function requestText({ file, targets, assignments, paramsFiles }: BuildRequest): string {
  // Every value of `process.env` that is read is a call of the system.
  const names = Object.keys(process.env).filter(name => name.startsWith('TANREN_') && !name.startsWith('TANREN_REMOTE_'));
  const settings = names.sort().map(name => [name, process.env[name]]);
  return JSON.stringify([VERSION, process.version, file, targets, assignments, paramsFiles, settings]);
}
