/** The commands of docs/coco.md print what the page shows. UPDATE_GOLDEN=1 rewrites the output on the page. */
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { type CliWorld, givenProject } from '../../support/cli-world.js';
import { findMismatch, playSteps, stepsOf, updatePage } from '../../support/console-blocks.js';
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

describe('docs/coco.md', () => {
  let world: CliWorld;
  beforeAll(() => {
    world = givenProject({ 'bin/tanren': `#!/bin/sh\nexec "${process.execPath}" "${join(DIST, 'bin/tanren.js')}" "$@"\n` });
    chmodSync(join(world.folder, 'bin/tanren'), 0o755);
    copyFileSync(join(dirname(DIST), 'examples/shapes/data/instances_val.json'), join(world.folder, 'instances_val.json'));
    const text = gunzipSync(readFileSync(fixturePath('detection', 'shapes-detections.json.gz'))).toString();
    world.write('float.json', text);
    world.write('int8.json', JSON.stringify(damage(JSON.parse(text) as Detection[])));
  });
  afterAll(() => world.remove());

  it('shows the output of the commands', () => {
    const page = readFileSync(PAGE, 'utf8');
    const steps = stepsOf(page);
    const env = {
      ...process.env,
      PATH: [join(world.folder, 'bin'), process.env.PATH].join(delimiter),
      NO_COLOR: '1',
      FORCE_COLOR: undefined,
    };
    const outputs = playSteps(steps, world.folder, env);
    if (process.env.UPDATE_GOLDEN === '1') writeFileSync(PAGE, updatePage(page, steps, outputs));
    for (const command of ['eval', 'diff']) expect(steps.some(step => step.command.startsWith(`tanren coco ${command} `))).toBe(true);
    const wrong = steps.map(({ command, expected }, index) => [command, findMismatch(expected, outputs[index] ?? [])]);
    expect(wrong.filter(([, mismatch]) => mismatch !== undefined)).toEqual([]);
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
