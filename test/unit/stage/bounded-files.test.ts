/** Files that parts read: how many there are at once. */
import { readdir, writeFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { makeBoundedFiles } from '../../../src/stage/bounded-files.js';
import { givenFolder } from '../../support/run-stage.js';

const folder = givenFolder('bounded-files');

const fill = (path: string) => writeFile(path, new Uint8Array(5_000));

const filesNow = async (): Promise<number> => (await readdir(folder.path)).length;

/** Files that must not come would come in this time, on a machine that is not busy. */
const moment = () => wait(50);

it.each([
  ['as many as reach the bytes', { bytes: 12_000, files: 1 }, 3],
  ['a few, however large they are', { bytes: 1, files: 2 }, 2],
])('there are %s; each that is removed makes room for one', async (_what, limits, most) => {
  const files = makeBoundedFiles(folder.path, limits);
  const written = Array.from({ length: 8 }, (_, index) => files.write(`${index}`, fill));
  await Promise.all(written.slice(0, most));
  await moment();
  expect(await filesNow()).toBe(most);
  await (await Promise.race(written)).remove();
  await written[most];
  await moment();
  expect(await filesNow()).toBe(most);
  for (const file of written.slice(1)) await (await file).remove();
  expect(await filesNow()).toBe(0);
});

it('one that cannot be read takes no room', async () => {
  const files = makeBoundedFiles(folder.path, { bytes: 1, files: 1 });
  await expect(files.write('bad', () => Promise.reject(new Error('unreadable')))).rejects.toThrow('unreadable');
  await (await files.write('good', fill)).remove();
  expect(await filesNow()).toBe(0);
});
