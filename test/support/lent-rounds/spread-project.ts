/** A project of two stages with many parts, and others that want their slots back, and a plain function that says what a build must leave. */
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { type CliWorld, givenProject } from '../cli-world.js';

/** What results depend on. Every edit changes this and the files together. */
export interface Contents {
  left: string;
  right: string;
  /** What the parts' module and a module that it imports say. */
  part: string;
  helper: string;
  /** A value in the pipeline file. */
  tone: string;
}

export interface SpreadProject extends CliWorld {
  readonly contents: Contents;
  /** Writes the file that a value stands in: in place, or by rename. */
  put(what: keyof Contents, how?: 'in place' | 'by rename'): void;
  /** Path below artifacts/ → content. */
  expected(): ReadonlyMap<string, string>;
}

/** Parts of the two stages. Each waits for PART_MS: enough work for some slots. */
const COUNTS = { many: 120, more: 80 };
const PART_MS = 40;

/** Part processes take a file of this folder away, and do what it is named after. */
export const MISCHIEF = 'mischief';

const pipelineOf = (tone: string): string => `version: 1
params: {tone: ${tone}}
plugins: {spread: ./plugins/spread.mjs}
sources: {left: left.txt, right: right.txt}
stages:
  many: {uses: spread, with: {count: ${COUNTS.many}, tone: "\${tone}"}, inputs: {text: "\${sources.left}"}}
  more: {uses: spread, with: {count: ${COUNTS.more}, tone: same}, inputs: {text: "\${sources.right}"}}
  first: {uses: command, with: {run: ["sleep 0.6; tr a-z A-Z < in.txt > out.txt"], shell: sh, inputs: {text: in.txt}, outputs: {text: out.txt}}, resources: {cpu: 0}, inputs: {text: "\${sources.left}"}}
  second: {uses: command, with: {run: ["sleep 0.3; cat in.txt in.txt > out.txt"], shell: sh, inputs: {text: in.txt}, outputs: {text: out.txt}}, inputs: {text: first.text}}
  wide: {uses: command, with: {run: ["sleep 0.2; cat in.txt in.txt > out.txt"], shell: sh, inputs: {text: in.txt}, outputs: {text: out.txt}}, resources: {cpu: 3}, inputs: {text: second.text}}
  join: {uses: command, with: {run: ["cat one.txt two.txt three.txt > out.txt"], shell: sh, inputs: {one: one.txt, two: two.txt, three: three.txt}, outputs: {text: out.txt}}, inputs: {one: many.text, two: more.text, three: wide.text}}
`;

const SPREAD = `import { readFileSync, writeFileSync } from 'node:fs';
import { part } from './part.mjs';
const port = { kind: 'file', optional: false, entries: undefined, entryKinds: {}, description: '' };
export const spread = {
  name: 'spread', version: 1, description: '', determinism: 'exact', runsModels: 'never', spreads: 'parts',
  params: { type: 'object', properties: { count: { type: 'integer' }, tone: { type: 'string' } } },
  inputs: { text: port }, outputs: { text: port },
  async run({ params, inputs, outputs, context }) {
    const ask = index => context.memo(part, { manifest: { index, tone: params.tone }, blobs: { text: inputs.text } });
    const asked = [];
    const lines = [];
    for (let index = 0, next = 0; index < params.count; index++) {
      for (; next < Math.min(params.count, index + context.partsAtOnce); next++) {
        asked[next] = ask(next);
        asked[next].catch(() => undefined);
      }
      lines.push(readFileSync((await asked[index]).files.text, 'utf8'));
    }
    writeFileSync(outputs.text, lines.join('\\n'));
  },
};
`;

/** The part's own code, with what a part process may do besides. The worker does nothing of that. */
const partOf = (word: string, mischief: string): string => `import { readFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { helper } from './helper.mjs';
const word = '${word}';
const MISCHIEFS = {
  exits: () => process.exit(3),
  'exits as if all were well': () => process.exit(0),
  aborts: () => process.abort(),
  'is killed': () => process.kill(process.pid, 'SIGKILL'),
  'is out of memory': () => process.kill(process.pid, 'SIGABRT'),
  fails: () => { throw new Error('a part fails'); },
  'finds a full disk': () => { throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' }); },
  'fails later': () => setTimeout(() => { throw new Error('later'); }, 60),
  'leaves a rejection': () => void Promise.reject(new Error('nobody waits')),
  'sends a message': () => process.send('mine'),
  'sends an answer': () => process.send({ kind: 'computed', number: 1, names: ['text'], peakBytes: 1 }),
  'sends an answer early': () => process.send({ kind: 'computed', number: 99, names: ['text'], peakBytes: 1 }),
  'sends a failure': () => process.send({ kind: 'failed', number: 1, why: 'it says so' }),
  disconnects: () => process.disconnect(),
  blocks: () => { for (const until = Date.now() + 1200; Date.now() < until; ); },
  'prints much': () => process.stdout.write('x'.repeat(300_000) + '\\n'),
  'starts a thread and a process': async () => {
    const { spawn } = await import('node:child_process');
    spawn('sleep', ['30'], { stdio: 'ignore' });
  },
};
async function misbehave() {
  for (const name of readdirSync('${mischief}')) {
    try {
      renameSync('${mischief}/' + name, '${mischief}.taken/' + name + process.pid);
    } catch {
      continue;
    }
    await MISCHIEFS[name]?.();
  }
}
export const part = {
  name: 'waiting', version: 1, module: import.meta.url, runsModels: 'never',
  async run({ manifest, blobs, folder }) {
    if (process.argv[3] === 'parts') await misbehave();
    await wait(${PART_MS});
    writeFileSync(folder + '/text', [manifest.index, readFileSync(blobs.text, 'utf8').toUpperCase(), manifest.tone, word, helper].join(' '));
    return ['text'];
  },
};
`;

export const MISCHIEFS = [...partOf('', '').matchAll(/^ {2}'?([a-z ]+)'?: (?:async )?\(\) =>/gm)].map(([, name = '']) => name);

export function givenSpreadProject(): SpreadProject {
  const contents: Contents = { left: 'iron', right: 'fire', part: 'a', helper: 'b', tone: 'loud' };
  const world = givenProject({ 'plugins/spread.mjs': SPREAD, [`${MISCHIEF}/.keep`]: '', [`${MISCHIEF}.taken/.keep`]: '' });
  world.unlink(`${MISCHIEF}/.keep`);
  const fileOf = (what: keyof Contents): readonly [string, string] => {
    switch (what) {
      case 'left':
      case 'right':
        return [`${what}.txt`, contents[what]];
      case 'tone':
        return ['pipeline.yaml', pipelineOf(contents.tone)];
      case 'part':
        return ['plugins/part.mjs', partOf(contents.part, join(world.folder, MISCHIEF))];
      case 'helper':
        return ['plugins/helper.mjs', `export const helper = '${contents.helper}';\n`];
    }
  };
  const put: SpreadProject['put'] = (what, how = 'by rename') => {
    const [path, text] = fileOf(what);
    if (how === 'in place') return world.write(path, text);
    world.write(`${path}.new`, text);
    renameSync(join(world.folder, `${path}.new`), join(world.folder, path));
  };
  for (const what of ['left', 'right', 'part', 'helper', 'tone'] as const) put(what);
  return { ...world, contents, put, expected: () => expectedOf(contents) };
}

function expectedOf({ left, right, part, helper, tone }: Contents): ReadonlyMap<string, string> {
  const linesOf = (count: number, text: string, word: string): string =>
    Array.from({ length: count }, (_, index) => [index, text.toUpperCase(), word, part, helper].join(' ')).join('\n');
  const [many, more] = [linesOf(COUNTS.many, left, tone), linesOf(COUNTS.more, right, 'same')];
  const first = left.toUpperCase();
  const second = first + first;
  const wide = second + second;
  return new Map([
    ['many/text', many],
    ['more/text', more],
    ['first/text', first],
    ['second/text', second],
    ['wide/text', wide],
    ['join/text', many + more + wide],
  ]);
}
