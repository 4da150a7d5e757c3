/** How a worker handles a part: it digests the inputs of the key, runs the part, and keeps the result only if no input changed meanwhile. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { digestBytes } from '../../../../src/base/digest.js';
import type { PartQuestion } from '../../../../src/engine/execute/worker/messages.js';
import { createMemo } from '../../../../src/engine/execute/worker/run-parts.js';
import type { Part } from '../../../../src/stage/context.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tanren-parts-'));
  writeFileSync(join(folder, 'blob'), 'blob');
  writeFileSync(join(folder, 'whole'), 'whole');
});
afterEach(() => rmSync(folder, { recursive: true }));

type Run = Part<Record<string, never>>['run'];

function given(run: Run) {
  const questions: PartQuestion[] = [];
  const kept: string[] = [];
  const dropped: string[] = [];
  const partStore = {
    find: async (question: PartQuestion) => {
      questions.push(question);
      return { kind: 'missing', ticket: 'ticket' } as const;
    },
    keep: async (_ticket: string, at: string, names: readonly string[]) => {
      kept.push(...names);
      return Object.fromEntries(names.map(name => [name, join(at, name)]));
    },
    drop: (_ticket: string, why: string) => void dropped.push(why),
  };
  const context = { signal: new AbortController().signal, log: () => undefined };
  const memo = createMemo(partStore, join(folder, 'parts'), new Map(), context, () => undefined);
  const part = { name: 'part', version: 1, module: import.meta.url, runsModels: 'never', run } as const;
  const ask = (blob = 'blob') =>
    memo(part, { manifest: {}, blobs: { blob: join(folder, blob) }, unkeyed: { whole: join(folder, 'whole') } });
  return { questions, kept, dropped, ask };
}

const copy: Run = async ({ blobs, unkeyed, folder: at }) => {
  writeFileSync(join(at, 'out'), readFileSync(blobs.blob ?? '', 'utf8') + readFileSync(unkeyed.whole ?? '', 'utf8'));
  return ['out'];
};

describe('a part', () => {
  it('asks by digests of its blobs, not of unkeyed paths, and has its files kept', async () => {
    const { ask, questions, kept } = given(copy);
    const { files, from } = await ask();

    expect(questions).toMatchObject([{ name: 'part', blobs: { blob: digestBytes('blob') } }]);
    expect(JSON.stringify(questions.map(({ paths: _, ...inKey }) => inKey))).not.toContain('whole');
    expect(kept).toEqual(['out']);
    expect(from).toBe('computed');
    expect(readFileSync(files.out ?? '', 'utf8')).toBe('blobwhole');
  });

  it('whose blob changes while it runs gives its result and is not stored', async () => {
    const { ask, kept, dropped } = given(async job => {
      writeFileSync(join(folder, 'blob'), 'other');
      return copy(job);
    });
    await ask();

    expect(kept).toEqual([]);
    expect(dropped).toEqual(['blob "blob" of part part changed while it ran']);
  });

  it('releases its claim if it fails', async () => {
    const { ask, dropped } = given(() => Promise.reject(new Error('no')));

    await expect(ask()).rejects.toThrow('no');
    expect(dropped).toHaveLength(1);
  });

  it('of a blob that is no file is refused', async () => {
    await expect(given(copy).ask('missing')).rejects.toMatchObject({ code: 'part-blob-missing' });
  });

  it.each([['never written'], ['../blob']])('that returns %j is refused', async name => {
    await expect(given(async () => [name]).ask()).rejects.toMatchObject({ code: 'part-output' });
  });
});
