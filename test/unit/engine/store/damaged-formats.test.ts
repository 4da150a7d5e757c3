/** Every reader of a format gives a value, nothing, or an error with a code, whatever bytes it gets. */

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { isCodedError } from '../../../../src/base/coded-error.js';
import { digestBytes, digestJson } from '../../../../src/base/digest.js';
import { type Json, parseJson } from '../../../../src/base/json.js';
import { parseRecipe } from '../../../../src/detection/read-definition.js';
import { readBaseline } from '../../../../src/engine/insight/history/baseline.js';
import { loadHistory } from '../../../../src/engine/insight/history/history-file.js';
import { LockRefused } from '../../../../src/engine/lockfile/lock-refused.js';
import { parseLock } from '../../../../src/engine/lockfile/parse-lock.js';
import { readNoOpRecord } from '../../../../src/engine/noop/no-op-record.js';
import { decodeRecord } from '../../../../src/engine/store/action-records.js';
import { readFrames } from '../../../../src/engine/store/archive/archive-format.js';
import { decodeTree } from '../../../../src/engine/store/files/tree.js';
import { ARTIFACTS_MARKER, openPublishedNames } from '../../../../src/engine/store/published-names.js';
import { parseState } from '../../../../src/engine/store/state-log.js';
import { parseModelSketches } from '../../../../src/quant/calibration/model-sketches.js';
import { CHECKS } from '../../../../stages/report/readers/checks.js';
import { damageBytes, damages } from '../../../support/mutate-bytes.js';
import { givenOldProject, OLD_ARCHIVE } from '../../../support/old-project.js';

const old = givenOldProject();
const folder = mkdtempSync(join(tmpdir(), 'tanren-damage-'));
afterAll(() => {
  old.remove();
  rmSync(folder, { recursive: true });
});

type Reader = (text: string) => unknown;

/** Of a reader that takes a path. */
const at =
  (read: (path: string) => unknown, name = 'file'): Reader =>
  text => {
    writeFileSync(join(folder, name), text, 'latin1');
    return read(join(folder, name));
  };

const ofJson =
  (read: (value: Json) => unknown): Reader =>
  text => {
    const value = parseJson(text);
    return value === undefined ? undefined : read(value);
  };

const latin1 = (name: string): string => readFileSync(join(old.folder, name), 'latin1');
const anyIn = (name: string, like: RegExp): string => {
  const found = readdirSync(join(old.folder, name), { recursive: true, encoding: 'utf8' }).sort();
  const path = found.find(one => /[0-9a-f]{64}/.test(one) && like.test(latin1(join(name, one))));
  if (path === undefined) throw new Error(`nothing in ${name} is like ${like}`);
  return latin1(join(name, path));
};

const encodeBody = (body: string): string => `tanren-no-op 3\n${body}\n${body}\n`;

/** The record of 0.1 in the present form: its header and the name of the stamps were others. */
function noOpRecordOf(former: string): string {
  const body = former.slice(former.indexOf('\n') + 1).replace('"sights":', '"stamps":');
  return encodeBody(body);
}

/** What 0.1 wrote, and how it is read: the value is there, undamaged. */
const FORMATS: readonly (readonly [format: string, text: string, read: Reader, right: (value: unknown) => void])[] = [
  [
    'state',
    latin1('cache/state/pipeline.log'),
    parseState as Reader,
    value => expect(value).toMatchObject({ damagedLines: 0, end: 'whole', state: { stages: { size: 5 } } }),
  ],
  [
    'history',
    latin1('cache/history/pipeline.log'),
    at(loadHistory),
    value => expect(value).toMatchObject({ damagedLines: 0, runs: { length: 6 } }),
  ],
  [
    'record',
    anyIn('cache/actions', /"plugin":"lines"/),
    decodeRecord,
    value => expect(value).toMatchObject({ manifest: { plugin: 'lines' } }),
  ],
  ['folder document', anyIn('cache/cas', /^\{"entries":/), decodeTree, value => expect(value).toHaveLength(4)],
  [
    'no-op record',
    noOpRecordOf(latin1('cache/state/plain.seal')),
    at(readNoOpRecord),
    value => expect(value).toMatchObject({ report: { stages: 1 } }),
  ],
  [
    'lock',
    latin1('pipelines/detector.lock'),
    text => parseLock(text, 'x.lock'),
    value => expect(value).toMatchObject({ stages: { size: 5 } }),
  ],
  [
    'baseline',
    latin1('baselines/first.json'),
    at(path => readBaseline(path, 'x')),
    value => expect(value).toMatchObject({ stages: { size: 5 } }),
  ],
  ['archive', readFileSync(OLD_ARCHIVE, 'latin1'), countFrames, async value => expect(await value).toBe(23)],
  [
    'sketches',
    latin1('artifacts/detector/calibrate/sketches.json'),
    ofJson(parseModelSketches),
    value => expect(value).toMatchObject({ samples: 2 }),
  ],
  [
    'host recipe',
    latin1('artifacts/detector/detector/recipe.json'),
    ofJson(parseRecipe),
    value => expect(value).toMatchObject({ architecture: 'single' }),
  ],
  ['report of a compilation', latin1('artifacts/detector/compile/report.json'), ofJson(CHECKS.compile), () => undefined],
  [
    'published names',
    `tanren-artifacts 1\n${checked('{"folder":"x","names":["a"]}')}`,
    at(path => openPublishedNames(join(path, '..')).in('x'), ARTIFACTS_MARKER),
    value => expect(value).toEqual(new Set(['a'])),
  ],
];

async function countFrames(text: string): Promise<number> {
  async function* chunks(): AsyncGenerator<Buffer> {
    yield Buffer.from(text, 'latin1');
  }
  let count = 0;
  for await (const _ of readFrames({ name: 'archive', chunks: chunks() })) count++;
  return count;
}

function checked(body: string): string {
  return `${crc32(body).toString(16).padStart(8, '0')} ${body}\n`;
}

/** Errors are for the user to read, with a code. */
async function expectCalm(run: () => unknown): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (!isCodedError(error) && !(error instanceof LockRefused)) throw error;
  }
}

describe('files written by 0.1', () => {
  it.each(FORMATS)('is read: %s', async (_format, text, read, right) => {
    await right(await read(text));
  });

  it.each(FORMATS)('cut and changed at any place it is a value, nothing, or an error with a code: %s', async (_format, text, read) => {
    await fc.assert(
      fc.asyncProperty(damages, async damage =>
        expectCalm(() => read(Buffer.from(damageBytes(Buffer.from(text, 'latin1'), damage)).toString('latin1'))),
      ),
      { numRuns: 60 },
    );
  });

  it('every record is stored under the digest of its manifest', () => {
    const root = join(old.folder, 'cache/actions');
    const names = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.json'));
    expect(names.length).toBe(27);
    for (const name of names)
      expect(digestJson(decodeRecord(readFileSync(join(root, name), 'utf8'))?.manifest ?? {})).toBe(name.slice(3, -5));
  });
});

describe('a file with a valid checksum and invalid content', () => {
  const deep = (open: string, close: string, inside: string): string => `${open.repeat(5_000)}${inside}${close.repeat(5_000)}`;
  const NUMBERS = ['1e999', '-1', '0.5', '9007199254740993', `1${'0'.repeat(400)}`];
  const BODIES = [
    'null',
    '[]',
    '{}',
    '"text"',
    deep('[', ']', ''),
    deep('{"stage":', '}', '1'),
    ...NUMBERS,
    ...NUMBERS.map(
      number =>
        `{"format":1,"manifest":{},"results":[{"outputs":{"a":{"kind":"file","digest":"${'0'.repeat(64)}","sizeBytes":${number},"executable":false}}}]}`,
    ),
    ...NUMBERS.map(number => `{"run":"r${number}","started":"x","durationMs":${number},"stages":[]}`),
    '{"stage":"__proto__","key":"__proto__","outputs":{"__proto__":{}}}',
    '{"files":{"__proto__":["",""]}}',
    `{"format":1,"entries":${deep('[', ']', '')}}`,
    '{"format":"tanren-sketches","version":2,"values":[{"sketch":{"bins":1e999}}]}',
    '{"format":"tanren-recipe","version":1,"architecture":"__proto__"}',
  ];
  const frames: readonly ((body: string) => string)[] = [
    body => body,
    body => `tanren-state 1\n${checked(body)}`,
    body => `tanren-history 1\n${checked(body)}`,
    body => `tanren-artifacts 1\n${checked(body)}`,
    encodeBody,
    body => `${digestBytes(body)}\n${body}\n`,
    body => `tanren-archive 1\nrecord ${'0'.repeat(64)} ${body.length}\n${body}end 1\n`,
    body => `version: 1\n\nstages:\n  x:\n    params:\n      a: ${body}\n`,
  ];

  it.each(FORMATS)('%s', async (_format, _text, read) => {
    for (const body of BODIES) for (const frame of frames) await expectCalm(() => read(frame(body)));
  });
});
