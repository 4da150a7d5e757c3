/** What a remote worker's result may hold: outputs, texts and messages of another machine are checked. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { digestBytes } from '../../../../src/base/digest.js';
import { decodeLine } from '../../../../src/engine/execute/remote/execution-messages.js';
import { createRemoteExecutor, type ExecutionOrder } from '../../../../src/engine/execute/remote/remote-executor.js';
import { downloadOutputs } from '../../../../src/engine/execute/remote/remote-outputs.js';
import type { RemoteCache } from '../../../../src/remote/transport/remote-cache.js';
import { ACTION, ACTION_RESULT, type WireDigest, type WireResult } from '../../../../src/remote/wire/reapi.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tanren-remote-outputs-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const ONE = Buffer.from('one');
const DIGEST: WireDigest = { hash: digestBytes(ONE), sizeBytes: ONE.length };
const resultOf = (result: Parameters<typeof ACTION_RESULT.encode>[0]): WireResult => ACTION_RESULT.decode(ACTION_RESULT.encode(result));
const file = (path: string, digest = DIGEST) => ({ path, digest, isExecutable: false, contents: new Uint8Array(0) });
const tree = (path: string, sizeBytes: number) => ({ path, treeDigest: { ...DIGEST, sizeBytes }, rootDirectoryDigest: undefined });
const all = (...paths: string[]) => ({ declared: new Set(paths), brings: new Set(paths) });
const cache: Pick<RemoteCache, 'readBlobs' | 'readFile'> = {
  readBlobs: async blobs => new Map(blobs.map(({ hash }) => [hash, ONE])),
  readFile: async () => 'missing',
};

it('takes each declared output once', async () => {
  await downloadOutputs(cache, resultOf({ outputFiles: [file('a'), file('b')] }), all('a', 'b'), folder);
  expect(readFileSync(join(folder, 'b'), 'utf8')).toBe('one');
});

it('states outputs that do not come, and writes none of them', async () => {
  const result = resultOf({ outputFiles: [file('a'), file('b', { ...DIGEST, sizeBytes: 2 ** 30 })] });
  const paths = { declared: new Set(['a', 'b']), brings: new Set(['a']) };
  const { files } = await downloadOutputs(cache, result, paths, folder);
  expect([files.map(({ path }) => path), readdirSync(folder)]).toEqual([['a', 'b'], ['a']]);
});

it.each([
  ['a path that occurs twice', { outputFiles: [file('a'), file('a')] }],
  ['a file that is a folder too', { outputFiles: [file('a')], outputDirectories: [tree('a', 3)] }],
  ['a path that is not declared', { outputFiles: [file('c')] }],
  ['a tree of more than 256 MB', { outputDirectories: [tree('a', (256 << 20) + 1)] }],
  [
    'files of more than 64 GiB together',
    { outputFiles: [file('a', { ...DIGEST, sizeBytes: 40 * 2 ** 30 }), file('b', { ...DIGEST, sizeBytes: 40 * 2 ** 30 })] },
  ],
  ['trees of more than 256 MB together', { outputDirectories: [tree('a', 200 << 20), tree('b', 200 << 20)] }],
])('refuses %s', async (_what, result) => {
  const taken = downloadOutputs(cache, resultOf(result), all('a', 'b'), folder);
  await expect(taken).rejects.toMatchObject({ code: 'remote-damaged' });
});

it('fails when the other large files have ended, and leaves nothing of the result', async () => {
  const ended: string[] = [];
  const large = (text: string): WireDigest => ({ hash: digestBytes(text), sizeBytes: 2 << 20 });
  const slow: typeof cache = {
    ...cache,
    async readFile(_blob, path) {
      if (path.endsWith('lost')) return 'missing';
      await wait(20);
      writeFileSync(path, '', { flag: 'wx' });
      ended.push(path);
      return 'found';
    },
  };
  const result = resultOf({ outputFiles: [file('lost', large('lost')), file('slow', large('slow'))] });
  await expect(downloadOutputs(slow, result, all('lost', 'slow'), folder)).rejects.toMatchObject({ code: 'remote-missing' });
  expect([ended, readdirSync(folder)]).toEqual([[join(folder, 'slow')], []]);
});

it.each([{ help: 1 }, { stack: {} }, { causes: [1] }, { message: null }])('takes a failure with %j as output', wrong => {
  const failure = { code: 'timeout', message: 'too long', causes: [], help: 'wait', stack: 'at', ...wrong };
  expect(decodeLine(JSON.stringify({ kind: 'failed', failure })).kind).toBe('output');
  expect(decodeLine(JSON.stringify({ kind: 'failed', failure: { code: 'a', message: 'b', causes: [] } })).kind).toBe('failed');
});

describe('what a command said', () => {
  const said: unknown[] = [];
  const order = (): ExecutionOrder => ({
    arguments: ['node'],
    root: { digest: { hash: digestBytes(ONE), sizeBytes: 3 }, blobs: new Map() },
    outputs: [],
    timeoutMs: undefined,
    properties: {},
    lookup: 'use',
    salt: '',
    take: async (result, from) => void (await downloadOutputs(from, result, all(), folder)),
    onMessage: message => said.push(message),
    onRunning: () => undefined,
    signal: new AbortController().signal,
  });
  const execute = (stdoutDigest: WireDigest) => {
    said.length = 0;
    const whole = { ...cache, findMissing: async () => [], writeBlobs: async () => undefined };
    const result = resultOf({ exitCode: 0, stdoutDigest });
    return createRemoteExecutor(whole as never, { execute: async () => ({ kind: 'ended', result }) }).execute(order());
  };

  it.each([
    [undefined, undefined],
    [90_500, { seconds: 90, nanos: 500_000_000 }],
  ])('a stage with the timeout %j asks the server for %j', async (timeoutMs, expected) => {
    const sent: Buffer[] = [];
    const whole = {
      ...cache,
      findMissing: async (asked: unknown) => asked,
      writeBlobs: async (blobs: { bytes: Buffer }[]) => void sent.push(...blobs.map(({ bytes }) => bytes)),
    };
    const end = { kind: 'ended', result: resultOf({ exitCode: 0 }) } as const;
    let action: Buffer | undefined;
    const execution = {
      async execute({ hash }: { hash: string }) {
        action = sent.find(bytes => digestBytes(bytes) === hash);
        return end;
      },
    };
    await createRemoteExecutor(whole as never, execution as never).execute({ ...order(), timeoutMs });
    expect(ACTION.decode(action ?? Buffer.alloc(0)).timeout).toEqual(expected);
  });

  it('is not read above 64 MB, with a warning', async () => {
    expect(await execute({ ...DIGEST, sizeBytes: (64 << 20) + 1 })).toMatchObject({ kind: 'ended', exitCode: 0 });
    expect(said).toEqual([{ kind: 'log', level: 'warning', message: expect.stringMatching(/67108865 bytes of output/) }]);
  });

  it('must have a digest', async () => {
    const end = { kind: 'failed', message: expect.stringMatching(/no digest/) };
    expect(await execute({ hash: '../../etc', sizeBytes: 3 })).toEqual(end);
  });
});
