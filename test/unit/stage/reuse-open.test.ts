/** Reuse of an open resource by key. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeOpenOrReuse, makeUseAtLayer, stampFile } from '../../../src/stage/reuse-open.js';

function makeResources() {
  const log: string[] = [];
  const reuse = makeOpenOrReuse<{ readonly name: string; close(): Promise<void> }>();
  const get = (name: string) =>
    reuse(name, async () => {
      if (name === 'broken') throw new Error('cannot be opened');
      log.push(`open ${name}`);
      return { name, close: async () => void log.push(`close ${name}`) };
    });
  return { log, get };
}

describe('a reused resource', () => {
  it('is opened once for consecutive calls with the same key', async () => {
    const { log, get } = makeResources();
    expect(await get('a')).toBe(await get('a'));
    expect(log).toEqual(['open a']);
  });

  it('is closed before a resource of another key is opened', async () => {
    const { log, get } = makeResources();
    await get('a');
    expect((await get('b')).name).toBe('b');
    expect(log).toEqual(['open a', 'close a', 'open b']);
  });

  it('is opened again after another one failed to open', async () => {
    const { log, get } = makeResources();
    await get('a');
    await expect(get('broken')).rejects.toThrow('cannot be opened');
    await get('a');
    expect(log).toEqual(['open a', 'close a', 'open a']);
  });
});

describe('a resource that goes through layers', () => {
  function givenLayers(count: number) {
    const log: string[] = [];
    const use = makeUseAtLayer<{ readonly count: number; next(): number; step(): void; close(): Promise<void> }>();
    const stepAt = (key: string, layer: number) =>
      use(
        {
          key,
          layer,
          async open() {
            let next = 0;
            log.push(`open ${key}`);
            return { count, next: () => next, step: () => void next++, close: async () => void log.push(`close ${key}`) };
          },
        },
        async resource => {
          while (resource.next() < layer) resource.step();
          log.push(`${key}${resource.next()}`);
          resource.step();
        },
      );
    return { log, stepAt };
  }

  it('is opened once, and closed behind its last layer', async () => {
    const { log, stepAt } = givenLayers(2);
    await stepAt('a', 0);
    await stepAt('a', 1);
    expect(log).toEqual(['open a', 'a0', 'a1', 'close a']);
  });

  it('is closed and opened again for a layer that it is past', async () => {
    const { log, stepAt } = givenLayers(3);
    await stepAt('a', 1);
    await stepAt('a', 0);
    expect(log).toEqual(['open a', 'a1', 'close a', 'open a', 'a0']);
  });

  it('is closed before that of another key is opened', async () => {
    const { log, stepAt } = givenLayers(3);
    await stepAt('a', 0);
    await stepAt('b', 0);
    expect(log).toEqual(['open a', 'a0', 'close a', 'open b', 'b0']);
  });
});

it('the stamp of a file changes when the file is replaced', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tanren-stamp-'));
  const path = join(folder, 'model.onnx');
  await writeFile(path, 'one');
  const before = await stampFile(path);
  expect(await stampFile(path)).toEqual(before);
  await rm(path);
  await writeFile(path, 'longer');
  expect(await stampFile(path)).not.toEqual(before);
  await rm(folder, { recursive: true });
});
