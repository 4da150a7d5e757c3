/** The commands of docs/coco.md print what the page shows. UPDATE_GOLDEN=1 rewrites the output on the page. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { type CliWorld, givenProject } from '../../support/cli-world.js';
import { playPage, TANREN } from '../../support/documented-page.js';
import { fixturePath } from '../../support/fixtures.js';
import { DIST } from '../../support/world.js';

const PAGE = join(dirname(DIST), 'docs/coco.md');

interface Detection {
  readonly score: number;
  readonly bbox: readonly [number, number, number, number];
}

/** As if quantization had lost some objects, and moved others. */
function damage(detections: readonly Detection[]): readonly Detection[] {
  return detections
    .filter((_, index) => index % 41 !== 7)
    .map((one, index) => {
      const [x, y, width, height] = one.bbox;
      if (index % 29 === 0) return { ...one, score: one.score * 0.45 };
      return index % 37 === 0 ? { ...one, bbox: [x + 4, y + 3, width, height] } : one;
    });
}

interface GroundTruth {
  readonly annotations: readonly object[];
}

/** Ground truth with a mask of half the size of its image, and three annotations of an image that is not there. */
function makeOdd({ annotations, ...rest }: GroundTruth): GroundTruth {
  const odd = annotations.map((one, index) => {
    if (index === 2) return { ...one, segmentation: { size: [96, 128], counts: [0, 96 * 128] } };
    return index >= 4 && index <= 6 ? { ...one, image_id: 99 } : one;
  });
  return { ...rest, annotations: odd };
}

describe('docs/coco.md', () => {
  let world: CliWorld;
  beforeAll(() => {
    world = givenProject(TANREN);
    const annotations = join(dirname(DIST), 'examples/shapes/data/instances_val.json');
    copyFileSync(annotations, join(world.folder, 'instances_val.json'));
    world.write('odd.json', JSON.stringify(makeOdd(JSON.parse(readFileSync(annotations, 'utf8')) as GroundTruth)));
    const text = gunzipSync(readFileSync(fixturePath('detection', 'shapes-detections.json.gz'))).toString();
    world.write('float.json', text);
    world.write('int8.json', JSON.stringify(damage(JSON.parse(text) as Detection[])));
  });
  afterAll(() => world.remove());

  it('shows the output of the commands', () => {
    const { steps, wrong } = playPage(PAGE, world);
    for (const command of ['eval', 'diff']) expect(steps.some(step => step.command.startsWith(`tanren coco ${command} `))).toBe(true);
    expect(wrong).toEqual([]);
  });

  it('has a code example that runs', () => {
    const [, code = ''] = /^```js\n([\s\S]*?)^```/m.exec(readFileSync(PAGE, 'utf8')) ?? [];
    const library = pathToFileURL(join(DIST, 'src/detection/coco/public.js')).href;
    world.write('example.mjs', code.replace("'tanren/coco'", `'${library}'`));
    const output = execFileSync(process.execPath, ['example.mjs'], { cwd: world.folder, encoding: 'utf8' });
    expect(output.trim().split('\n')).toEqual([
      expect.stringMatching(/^0\.\d{3}$/),
      ...Array.from({ length: 6 }, () => expect.stringMatching(/^\w+ 0\.\d{3}$/) as unknown),
      expect.stringMatching(/^\d+$/),
    ]);
  });
});
