/** The project that command rounds attack, and a plain function that says what a build must leave. */
import { chmodSync, renameSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type CliWorld, givenProject } from '../cli-world.js';

/** What results depend on. Every edit changes this and the files together. */
export interface Contents {
  left: string;
  right: string;
  readonly parts: Map<string, string>;
  /** What the project's program, the program on the PATH, a helper module, a part's module and a thread's module say. */
  readonly says: Record<Speaker, string>;
  /** A value in the pipeline file. */
  tone: string;
}

export const SPEAKERS = ['tool', 'path', 'helper', 'part', 'thread'] as const;
export type Speaker = (typeof SPEAKERS)[number];

export interface AttackedProject extends CliWorld {
  readonly contents: Contents;
  /** Writes the files that a speaker or a value stands in: in place, or by rename. */
  put(what: Speaker | 'left' | 'right' | 'pipeline', how?: 'in place' | 'by rename'): void;
  /** Path below artifacts/ → content. */
  expected(): ReadonlyMap<string, string>;
}

const pipelineOf = (tone: string): string => `version: 1
params: {tone: ${tone}}
plugins: {letters: ./plugins/letters.mjs}
sources: {left: left.txt, right: right.txt, parts: parts}
stages:
  upper: {uses: command, with: {run: ["echo hammering; sleep 0.02; tr a-z A-Z < in.txt > out.txt"], shell: sh, inputs: {text: in.txt}, outputs: {text: out.txt}}, inputs: {text: "\${sources.left}"}}
  lines: {uses: command, with: {run: ["mkdir -p out/sub; split -l 1 in.txt out/sub/; cat parts/* > out/parts; ln -s parts out/link"], shell: sh, inputs: {text: in.txt, parts: parts}, outputs: {all: out}}, inputs: {text: upper.text, parts: "\${sources.parts}"}}
  tooled: {uses: command, with: {run: [tools/say.sh], outputs: {said: said.txt}}}
  pathed: {uses: command, with: {run: ["sleep 0.03; mytool > out.txt; cat in.txt >> out.txt"], shell: sh, tools: [mytool], inputs: {text: in.txt}, outputs: {text: out.txt}}, inputs: {text: "\${sources.right}"}}
  letters: {uses: letters, with: {tone: "\${tone}"}, inputs: {text: pathed.text}}
  join: {uses: command, with: {run: ["cat one.txt two.txt three.txt all/parts > out.txt"], shell: sh, inputs: {one: one.txt, two: two.txt, three: three.txt, all: all}, outputs: {text: out.txt}}, inputs: {one: upper.text, two: tooled.said, three: letters.text, all: lines.all}}
  score: {uses: command, with: {run: ["printf '{\\"length\\": %d}' $(wc -c < in.txt) > m.json"], shell: sh, inputs: {text: in.txt}, outputs: {metrics: {path: m.json, kind: metrics}}}, inputs: {text: join.text}, gate: {length: ">= 0"}}
`;

const LETTERS = `import { readFileSync, writeFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { part } from './part.mjs';
const port = { kind: 'file', optional: false, entries: undefined, entryKinds: {}, description: '' };
export const letters = {
  name: 'letters', version: 1, description: '', determinism: 'exact', runsModels: 'never',
  params: { type: 'object', properties: { tone: { type: 'string' } } }, inputs: { text: port }, outputs: { text: port },
  async run({ params, inputs, outputs, context }) {
    const { files } = await context.memo(part, { manifest: { tone: params.tone }, blobs: { text: inputs.text } });
    const fromThread = await new Promise((resolve, reject) => {
      const thread = new Worker(new URL('./thread.mjs', import.meta.url));
      thread.once('message', resolve).once('error', reject);
    });
    const { helper } = await import('./helper.mjs');
    writeFileSync(outputs.text, readFileSync(files.said, 'utf8') + helper + fromThread + '\\n');
  },
};
`;

const PART = `import { readFileSync, writeFileSync } from 'node:fs';
const word = 'WORD';
export const part = {
  name: 'said', version: 1, module: import.meta.url, runsModels: 'never',
  async run({ manifest, blobs, folder }) {
    writeFileSync(folder + '/said', readFileSync(blobs.text, 'utf8') + manifest.tone + word);
    return ['said'];
  },
};
`;

export function givenAttackedProject(): AttackedProject {
  const contents: Contents = {
    left: 'iron\nsteel\n',
    right: 'fire\n',
    parts: new Map([['1', 'one\n']]),
    says: { tool: 'a', path: 'b', helper: 'c', part: 'd', thread: 'e' },
    tone: 'loud',
  };
  const world = givenProject({ 'plugins/letters.mjs': LETTERS, 'parts/1': 'one\n' });
  const environment = { PATH: `${join(world.folder, 'bin')}${delimiter}${process.env.PATH}` };
  const textOf = (what: Speaker | 'left' | 'right' | 'pipeline'): readonly [string, string, number] => {
    const { says, tone } = contents;
    switch (what) {
      case 'left':
      case 'right':
        return [`${what}.txt`, contents[what], 0o644];
      case 'pipeline':
        return ['pipeline.yaml', pipelineOf(tone), 0o644];
      case 'tool':
        return ['tools/say.sh', `#!/bin/sh\necho ${says.tool} > said.txt\n`, 0o755];
      case 'path':
        return ['bin/mytool', `#!/bin/sh\necho ${says.path}\n`, 0o755];
      case 'helper':
        return ['plugins/helper.mjs', `export const helper = '${says.helper}';\n`, 0o644];
      case 'part':
        return ['plugins/part.mjs', PART.replace('WORD', says.part), 0o644];
      case 'thread':
        return [
          'plugins/thread.mjs',
          `import { parentPort } from 'node:worker_threads';\nparentPort.postMessage('${says.thread}');\n`,
          0o644,
        ];
    }
  };
  const put: AttackedProject['put'] = (what, how = 'by rename') => {
    const [path, text, mode] = textOf(what);
    if (how === 'in place') {
      world.write(path, text);
      chmodSync(join(world.folder, path), mode);
      return;
    }
    world.write(`${path}.new`, text);
    chmodSync(join(world.folder, `${path}.new`), mode);
    renameSync(join(world.folder, `${path}.new`), join(world.folder, path));
  };
  for (const what of [...SPEAKERS, 'left', 'right', 'pipeline'] as const) put(what);
  const expected = (): ReadonlyMap<string, string> => expectedOf(contents);
  const here = world.with({ environment });
  return {
    ...world,
    ...here,
    with: ({ folder, environment: more }) =>
      world.with({ ...(folder === undefined ? {} : { folder }), environment: { ...environment, ...more } }),
    contents,
    put,
    expected,
  };
}

function expectedOf({ left, right, parts, says, tone }: Contents): ReadonlyMap<string, string> {
  const upper = left.toUpperCase();
  const joinedParts = [...parts.keys()]
    .sort()
    .map(name => parts.get(name))
    .join('');
  const pathed = `${says.path}\n${right}`;
  const letters = `${pathed}${tone}${says.part}${says.helper}${says.thread}\n`;
  const joined = `${upper}${says.tool}\n${letters}${joinedParts}`;
  const lines = upper.split(/(?<=\n)/).filter(line => line !== '');
  return new Map([
    ['upper/text', upper],
    ...lines.map((line, i): [string, string] => [`lines/all/sub/a${String.fromCharCode(97 + i)}`, line]),
    ['lines/all/parts', joinedParts],
    ['lines/all/link', '→ parts'],
    ['tooled/said', `${says.tool}\n`],
    ['pathed/text', pathed],
    ['letters/text', letters],
    ['join/text', joined],
    ['score/metrics.json', `{"length": ${Buffer.byteLength(joined)}}`],
  ]);
}
