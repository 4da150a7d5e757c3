/** `tanren detect` finds objects in pictures, names those that it cannot read and continues, and names what is missing: with the trained detector of the example, after a build. */
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { type CliWorld, givenProject } from '../../support/cli-world.js';
import { SHAPES_FOLDER } from '../../support/shapes.js';
import { writeShapes } from '../../support/shapes-files.js';

const PIPELINE = `
version: 1
sources:
  backbone: backbone.onnx
  box_head: box_head.onnx
  mask_head: mask_head.onnx
  recipe: recipe.json
  data: {annotations: annotations.json, images: pictures}
stages:
  simplify: {uses: simplify, inputs: {model: "\${sources.mask_head}"}}
  float: &float
    uses: evaluate
    inputs:
      parts: {backbone: "\${sources.backbone}", box_head: "\${sources.box_head}", mask_head: "\${sources.mask_head}"}
      recipe: "\${sources.recipe}"
      data: "\${sources.data}"
  again: *float
  never:
    uses: evaluate
    inputs:
      parts: {backbone: "\${sources.backbone}", box_head: "\${sources.box_head}", mask_head: simplify.model}
      recipe: "\${sources.recipe}"
      data: "\${sources.data}"
`;

interface Report {
  readonly images: readonly { readonly id: number; readonly file_name: string; readonly width: number; readonly height: number }[];
  readonly problems: readonly { readonly file_name: string; readonly code: string }[];
  readonly stages: readonly {
    readonly stage: string;
    readonly categories: readonly { readonly id: number; readonly name: string }[];
    readonly annotations: readonly {
      readonly image_id: number;
      readonly category_id: number;
      readonly bbox: readonly number[];
      readonly score: number;
      readonly area: number;
    }[];
    readonly timing: {
      readonly pictures: number;
      readonly picturesPerSecond: number;
      readonly steps: readonly { readonly step: string; readonly ms: number }[];
    };
    readonly stability?: Record<string, number>;
    readonly agreement?: Record<string, number | string>;
  }[];
}

const roundFound = ({ category_id, score, bbox }: Report['stages'][number]['annotations'][number]) => ({
  category: category_id,
  score: Number(score.toFixed(3)),
  box: bbox.map(side => Number(side.toFixed(1))),
});

const PHOTO = join(SHAPES_FOLDER, 'data/val/000000001000.jpg');

describe('tanren detect', () => {
  let world: CliWorld;
  const at = (name: string): string => join(world.folder, name);

  beforeAll(async () => {
    world = givenProject({ 'pipeline.yaml': PIPELINE, 'annotations.json': '{}', 'my params.yaml': '{}\n' });
    await writeShapes(world.folder);
    mkdirSync(at('pictures/later'), { recursive: true });
    copyFileSync(PHOTO, at('pictures/a.jpg'));
    await sharp(PHOTO).rotate(90).withMetadata({ orientation: 8 }).png().toFile(at('pictures/later/turned.png'));
    await sharp({ create: { width: 1, height: 1, channels: 3, background: 'red' } })
      .png()
      .toFile(at('pictures/one.png'));
    await sharp({ create: { width: 10_000, height: 1, channels: 3, background: 'red' } })
      .png()
      .toFile(at('pictures/wide.png'));
    await sharp(PHOTO).toColourspace('cmyk').jpeg().toFile(at('pictures/print.jpg'));
    writeFileSync(at('pictures/broken.jpg'), 'no image');
    writeFileSync(at('pictures/notes.txt'), 'no image either');
  });
  afterAll(() => world.remove());

  it('detects the objects in every readable picture, names the other files, and exits with 1', () => {
    const { exitCode, stdout, stderr } = world.run('detect', 'float', 'again', 'pictures', '--json', '-o', 'found');
    expect(exitCode).toBe(1);
    const { images, problems, stages } = JSON.parse(stdout) as Report;
    expect(images.map(({ file_name, width, height }) => [file_name, width, height])).toEqual([
      ['a.jpg', 256, 192],
      ['later/turned.png', 256, 192],
      ['one.png', 1, 1],
    ]);
    expect(problems.map(({ file_name, code }) => [file_name, code])).toEqual([
      ['broken.jpg', 'image-decode'],
      ['print.jpg', 'image-mode'],
      ['wide.png', 'image-too-narrow'],
    ]);
    for (const { file_name } of problems) expect(stderr).toContain(`${file_name}: `);
    const [float, again] = stages;
    expect(float?.categories.find(({ id }) => id === 9)?.name).toBe('ring');
    const found = (image: string) =>
      float?.annotations.filter(({ image_id }) => image_id === images.find(({ file_name }) => file_name === image)?.id);
    // What torchvision found in this image, rounded: a square and, less sure, a triangle.
    expect(
      found('a.jpg')
        ?.filter(({ score }) => score > 0.3)
        .map(roundFound),
    ).toEqual([
      { category: 2, score: 0.997, box: [2.5, 127, 14.9, 14.7] },
      { category: 4, score: 0.44, box: [0.6, 131.1, 18, 11] },
    ]);
    // The same picture, turned back: JPEG's pixels are the same, so is what is found.
    expect(found('later/turned.png')?.map(({ image_id: _, ...rest }) => ({ ...rest, id: 0 }))).toEqual(
      found('a.jpg')?.map(({ image_id: _, ...rest }) => ({ ...rest, id: 0 })),
    );
    expect(again?.annotations).toEqual(float?.annotations);
    expect(again?.agreement).toMatchObject({ with: 'float', missed: 0, extra: 0, minBoxIou: 1, minMaskIou: 1, maxScoreDifference: 0 });
    // The first picture warms up.
    expect(float?.timing.pictures).toBe(2);
    expect(float?.timing.steps.map(({ step }) => step)).toEqual([
      'decode',
      'transform',
      'backbone',
      'proposals',
      'roi-align',
      'box_head',
      'detections',
      'mask_head',
      'masks',
      'paste',
      'encode',
    ]);
    for (const name of ['float/a.jpg.png', 'again/later/turned.png.png', 'float/one.png.png'])
      expect(world.exists(`found/${name}`)).toBe(true);
    const document = JSON.parse(world.read('found/again/detections.json')) as Record<string, unknown>;
    expect(document).toEqual({ images, categories: float?.categories, annotations: float?.annotations });
  });

  it('over equal frames reports no change; without --frames it reports no stability', async () => {
    mkdirSync(at('frames'));
    for (const frame of [1, 2, 10]) copyFileSync(PHOTO, at(`frames/f${frame}.jpg`));
    const { exitCode, stdout } = world.run('detect', 'float', 'frames', '--frames', '--json', '--min-score', '0.9', '-o', 'frames.json');
    expect(exitCode).toBe(0);
    const { images, stages } = JSON.parse(stdout) as Report;
    expect(images.map(({ file_name }) => file_name)).toEqual(['f1.jpg', 'f2.jpg', 'f10.jpg']);
    const confident = stages[0]?.annotations.filter(({ score }) => score >= 0.9).length ?? 0;
    const steady = { meanBoxIou: 1, lowMaskIou: 1, scoreJitter: 0, vanished: 0, flickers: 0 };
    expect(stages[0]?.stability).toMatchObject({ ...steady, steps: 2, objects: confident, kept: (confident / 3) * 2 });
    expect(JSON.parse(world.read('frames.json'))).toEqual({
      images,
      categories: stages[0]?.categories,
      annotations: stages[0]?.annotations,
    });

    const text = world.run('detect', 'float', 'frames/f1.jpg').stdout;
    expect(text).toMatch(/^f1\.jpg {2}256×192 {2}\d+ objects?: \w+ [01]\.\d\d/);
    expect(text).toMatch(/^together +\d+\.\d\d$/m);
    expect(text).not.toContain('from frame to frame');
  });

  it.each([
    ['a stage that was not built', ['never', 'pictures/a.jpg'], 'not-built', 'tanren build simplify'],
    ['a stage without a detector', ['simplify', 'pictures/a.jpg'], 'no-detector', 'stages that do: float, again, never'],
    ['no stage', ['pictures/a.jpg'], 'no-stage', 'tanren detect STAGE'],
    ['a file that is not there', ['float', 'pictures/b.jpg'], 'pictures-missing', 'name an image'],
    ['an output among the pictures', ['float', 'pictures', '-o', 'pictures/found'], 'detect-output', 'outside of it'],
    ['one file for two stages', ['float', 'again', 'pictures/a.jpg', '-o', 'x.json'], 'detect-output', 'name a folder'],
    [
      'a stage of another pipeline that was not built',
      ['never', 'pictures/a.jpg', '-f', './pipeline.yaml', '--params-file', 'my params.yaml'],
      'not-built',
      "tanren build simplify -f ./pipeline.yaml --params-file 'my params.yaml'",
    ],
  ])('%s: exit code 2, the code and the next step', (_, words, code, help) => {
    const { exitCode, stdout, stderr } = world.run('detect', ...words);
    expect([exitCode, stdout]).toEqual([2, '']);
    expect(stderr).toContain(`error[${code}]`);
    expect(stderr).toContain(help);
  });

  it('an output that cannot be written gives exit code 2 and leaves no file', () => {
    expect(world.run('detect', 'float', 'pictures/a.jpg', '-o', 'recipe.json/found')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('error[not-writable]'),
    });
  });

  it('an interruption leaves no partial document and gives the exit code of the signal', async () => {
    mkdirSync(at('many'));
    for (let frame = 0; frame < 200; frame++) copyFileSync(PHOTO, at(`many/${frame}.jpg`));
    const detecting = world.start('detect', 'float', 'many', '-o', 'halves.json');
    await detecting.waitFor('3.jpg');
    detecting.signal('SIGINT');
    expect(await detecting.ended).toBe(130);
    expect(world.exists('halves.json')).toBe(false);
  });

  it('a folder without pictures gives exit code 2', () => {
    mkdirSync(at('empty/deep'), { recursive: true });
    writeFileSync(at('empty/deep/notes.txt'), 'text');
    expect(world.run('detect', 'float', 'empty')).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('error[no-pictures]') });
  });
});
