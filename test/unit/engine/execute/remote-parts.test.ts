/** Parts of remote actions: what a worker's output may hold, and what follows when it fails. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRemoteParts, type RunBatch } from '../../../../src/engine/execute/remote/remote-parts.js';
import type { PartQuestion } from '../../../../src/engine/execute/worker/messages.js';

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'tanren-remote-parts-')));
});
afterEach(() => rmSync(root, { recursive: true }));
const folder = (): string => root;

const QUESTION: PartQuestion = {
  name: 'lines',
  version: 1,
  modulePath: '/plugin.mjs',
  runsModels: 'never',
  manifest: {},
  blobs: {},
  paths: { blobs: {}, unkeyed: {} },
};

function given(write: (own: string) => void, names: readonly string[]) {
  const said: string[] = [];
  const run: RunBatch = async (_entries, at) => {
    const own = join(at, 'outputs/parts/0');
    mkdirSync(own, { recursive: true });
    write(own);
    writeFileSync(join(own, '../results.json'), JSON.stringify({ format: 1, durationMs: 1, parts: [{ names }] }));
    return true;
  };
  const note = (why: string): void => void said.push(why);
  return { said, parts: createRemoteParts({ jobs: 1, run, folder: folder(), moduleOf: path => path, onFailed: note, onDamaged: note }) };
}

it('takes a file of a part', async () => {
  const { said, parts } = given(own => writeFileSync(join(own, 'text'), 'one'), ['text']);
  expect(await parts.compute(QUESTION)).toMatchObject({ names: ['text'] });
  expect(said).toEqual([]);
});

it.each([
  ['a link to a file', ['text'], (own: string) => symlinkSync('/etc/hostname', join(own, 'text'))],
  ['a path through a link', ['inner/hostname'], (own: string) => symlinkSync('/etc', join(own, 'inner'))],
  ['a path that leaves the folder', ['../results.json'], () => undefined],
  ['no file', ['text'], () => undefined],
])('refuses %s', async (_what, names, write) => {
  const { said, parts } = given(write, names);
  expect(await parts.compute(QUESTION)).toBeUndefined();
  expect(said).toEqual([expect.stringMatching(/is not a file in its folder/)]);
});

it('passes on what a run throws, and computes no further part', async () => {
  const run: RunBatch = () => Promise.reject(new TypeError('a slip'));
  const ignore = (): void => undefined;
  const parts = createRemoteParts({ jobs: 1, run, folder: folder(), moduleOf: path => path, onFailed: ignore, onDamaged: ignore });
  await expect(parts.compute(QUESTION)).rejects.toThrow('a slip');
  expect(await parts.compute(QUESTION)).toBeUndefined();
});

it('waits at its end for the actions under way', async () => {
  const { promise: begun, resolve: begin } = deferred<void>();
  const { promise: there, resolve: finish } = deferred<boolean>();
  const run: RunBatch = () => {
    begin();
    return there;
  };
  const ignore = (): void => undefined;
  const parts = createRemoteParts({ jobs: 1, run, folder: folder(), moduleOf: path => path, onFailed: ignore, onDamaged: ignore });
  const made = parts.compute(QUESTION);
  await begun;
  const order: string[] = [];
  const over = parts.end().then(() => order.push('ended'));
  await new Promise(resolve => setImmediate(resolve));
  order.push('finished');
  finish(false);
  await over;
  expect(order).toEqual(['finished', 'ended']);
  expect(await made).toBeUndefined();
});

function deferred<T>() {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>(settle => {
    resolve = settle;
  });
  return { promise, resolve };
}
