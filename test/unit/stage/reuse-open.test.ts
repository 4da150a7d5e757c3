/** Reuse of an open resource by key. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeOpenOrReuse, stampFile } from '../../../src/stage/reuse-open.js';

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
