/** Class labels of images: from a file, or from the names of folders. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { listLabeledImages } from '../../../../src/detection/data/class-labels.js';
import { failureOf } from '../../../support/error-code.js';
import { temporaryFolder } from '../../../support/run-stage.js';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeEach(async () => {
  folder = await temporaryFolder('labels');
});
afterEach(() => folder.remove());

/** Images are told by their names: nothing is decoded here. */
async function given(files: readonly string[], labels?: string): Promise<{ images: string; labels: string | undefined }> {
  const images = join(folder.path, 'images');
  await mkdir(images, { recursive: true });
  for (const name of files) {
    await mkdir(dirname(join(images, name)), { recursive: true });
    await writeFile(join(images, name), '');
  }
  const path = join(folder.path, 'labels.txt');
  if (labels !== undefined) await writeFile(path, labels);
  return { images, labels: labels === undefined ? undefined : path };
}

async function list(files: readonly string[], labels?: string, classes?: readonly string[]) {
  const there = await given(files, labels);
  const { images: found } = await listLabeledImages(there.images, there.labels, classes);
  return found.map(({ fileName, label }) => `${fileName}: ${label}`);
}

describe('labels', () => {
  it('are lines of name and number; names may hold spaces, and lines may be comments', async () => {
    expect(await list(['b c.jpg', 'a.png'], '# mine\nb c.jpg 12\n\r\na.png\t0\n')).toEqual(['a.png: 0', 'b c.jpg: 12']);
  });

  it('may name classes instead of numbers', async () => {
    expect(await list(['a.png', 'b.png'], 'a.png dog\nb.png 0', ['cat', 'dog'])).toEqual(['a.png: 1', 'b.png: 0']);
  });

  it('without a file are the folders, by name or in the order of the classes', async () => {
    const files = ['dog/1.jpg', 'cat/2.jpg', 'cat/deep/3.jpg'];
    expect(await list(files)).toEqual(['cat/2.jpg: 0', 'cat/deep/3.jpg: 0', 'dog/1.jpg: 1']);
    expect(await list(files, undefined, ['dog', 'cow', 'cat'])).toEqual(['cat/2.jpg: 2', 'cat/deep/3.jpg: 2', 'dog/1.jpg: 0']);
  });

  it.each<[string, readonly string[], string | undefined, readonly string[] | undefined, string, RegExp]>([
    [
      'fewer lines than images',
      ['a.png', 'b.png', 'c.png'],
      'a.png 0',
      undefined,
      'labels-missing',
      /^2 of 3 images have no label: "b.png", "c.png"$/,
    ],
    ['lines of other images', ['a.png'], 'a.png 0\nz.png 1', undefined, 'labels-unknown', /the labels file names the image "z.png"/],
    ['a line without a label', ['a.png'], 'a.png', undefined, 'labels-malformed', /line 1: name or label is missing/],
    ['a label that is not a number', ['a.png'], '\na.png cat', undefined, 'labels-malformed', /line 2: "cat" is not a number/],
    ['an unknown class', ['a.png'], 'a.png cow', ['cat', 'dog'], 'labels-malformed', /"cow" is not one of the 2 classes/],
    ['a number beyond the classes', ['a.png'], 'a.png 2', ['cat', 'dog'], 'labels-malformed', /"2" is not one of the 2 classes/],
    ['an image twice', ['a.png'], 'a.png 0\na.png 1', undefined, 'labels-malformed', /line 2: "a.png" already has a label/],
    ['images beside the folders', ['cat/a.png', 'b.png'], undefined, undefined, 'labels-missing', /1 of 2 images have no label: "b.png"/],
    [
      'a folder that is not a class',
      ['cat/a.png', 'cow/b.png'],
      undefined,
      ['cat', 'dog'],
      'labels-unknown',
      /the folder "cow" is not among the 2/,
    ],
    ['no images', [], undefined, undefined, 'no-images', /has no images/],
  ])('refuse %s', async (_what, files, labels, classes, code, message) => {
    expect(await failureOf(() => list(files, labels, classes))).toMatchObject({ code, message: expect.stringMatching(message) });
  });
});
