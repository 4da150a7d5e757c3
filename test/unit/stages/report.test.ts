/** The report page: connected inputs, invalid inputs, and escaping of names. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../../../src/base/json.js';
import type { InputPaths } from '../../../src/stage/define-stage.js';
import { report } from '../../../stages/report/stage.js';
import { failureOf } from '../../support/error-code.js';
import { BUILD, givenReportInputs, HOSTILE } from '../../support/report-inputs.js';
import { givenFolder, runStage } from '../../support/run-stage.js';

const folder = givenFolder('report');
let inputs: Awaited<ReturnType<typeof givenReportInputs>>;
beforeAll(async () => {
  inputs = await givenReportInputs(folder.path);
});

async function pageOf(connected: InputPaths, params: JsonObject = {}): Promise<string> {
  const { outputs } = await runStage(report, { params, inputs: connected, folder: folder.path, build: BUILD });
  return readFileSync(outputs.page ?? '', 'utf8');
}

const sectionsOf = (page: string): string[] => [...page.matchAll(/<section id="([^"]+)"/g)].map(match => match[1] ?? '');

describe('the section of layers', () => {
  it('has a roofline, and each layer with what bounds it and its share, as an estimate', async () => {
    const { compile } = inputs;
    const page = await pageOf({ compile });
    const section = page.slice(page.indexOf('<section id="layers"'));
    expect(section).toContain('estimate</span>');
    expect(section).toContain('aria-label="Roofline of ');
    // A call of 1.5 ms has three layers of 0.25 ms.
    expect(section).toContain('3 layers, 1.50 ms per call, of which 0.750 ms are fixed');
    expect(section.match(/16\.7\u202F%/g)).toHaveLength(3);
    expect(section).toContain('compute');
  });
});

/** From the section of one input to the end of the page that has only this input. */
async function sectionOf(port: 'sensitivity' | 'sweeps'): Promise<string> {
  const page = await pageOf({ [port]: inputs[port] ?? {} });
  return page.slice(page.indexOf(`<section id="${port}"`));
}

it('the section of costs has measured and first-order parts, and the setting that widens each layer', async () => {
  const section = await sectionOf('sensitivity');
  expect(section).toContain('aria-label="Cost of the 2 most expensive layers of quantize. First: ');
  expect(section).toMatch(/62\.5\u202F%/);
  expect(section).toMatch(/25\.0\u202F%/);
  expect(section).toContain('joins: separate, or overrides: [{tensor: ');
  expect(section).toContain('overrides: [{tensor: &quot;a&quot;, set: {dtype: int16}}, {tensor: &quot;b&quot;, set: {dtype: int16}}]');
});

it('the section of sweeps has a point per configuration with both figures, and a row for each', async () => {
  const section = await sectionOf('sweeps');
  expect(section).toContain('aria-label="AP over ms of 2 configurations of presets; 2 are on the Pareto front. The first has 0.5 at 10."');
  expect(section).toContain('2 of 3 configurations were built');
  expect(section.match(/>front</g)).toHaveLength(2);
  expect(section).toContain('{&quot;kind&quot;:&quot;percentile&quot;}');
  expect(section).toContain('failed: ');
  expect(await failureOf(() => pageOf({ sweeps: { presets: inputs.bench?.cpu ?? '' } }))).toMatchObject({ code: 'report-input' });
});

/** The document alone: data and code of the views come last. */
function withoutViews(page: string): string {
  const at = page.indexOf('<div id="app"');
  expect(at).toBeGreaterThan(0);
  return page.slice(0, at).replace(/<style id="views-style"[\s\S]*?<\/style>/, '');
}

describe('the page', () => {
  it('has the sections whose inputs are connected', async () => {
    expect(sectionsOf(await pageOf(inputs))).toEqual([
      'pipeline',
      'accuracy',
      'detections',
      'changes',
      'error-kinds',
      'verification',
      'recovery',
      'error',
      'sensitivity',
      'ranges',
      'partition',
      'memory',
      'latency',
      'layers',
      'sweeps',
    ]);
    expect(sectionsOf(await pageOf({}))).toEqual(['pipeline']);
    const { metrics, bench } = inputs;
    expect(sectionsOf(await pageOf({ metrics, bench }))).toEqual(['pipeline', 'accuracy', 'latency']);
  });

  it('has the same bytes for the same inputs', async () => {
    const page = await pageOf(inputs);
    expect(await pageOf(inputs)).toBe(page);
    // Records have no order: the engine's keys sort them.
    const turned = Object.fromEntries(
      Object.entries(inputs).map(([port, record]) => [port, Object.fromEntries(Object.entries(record).reverse())]),
    );
    expect(await pageOf(turned)).toBe(page);
  });

  it('shows the present value next to a limit', async () => {
    expect(await pageOf({ compile: inputs.compile ?? {} })).toContain('somebody saw it on a board');
  });

  it('lets no name be markup', async () => {
    const whole = await pageOf(
      { ...inputs, metrics: { [HOSTILE]: inputs.metrics?.float ?? '', float: inputs.metrics?.float ?? '' } },
      { title: HOSTILE },
    );
    // Its own, the data and the views.
    expect(whole.match(/<\/script/g)).toHaveLength(3);
    const page = withoutViews(whole);
    expect(page.match(/<script/g)).toHaveLength(1);
    expect(page).not.toContain('<img');
    expect(page).not.toContain('\u202E');
    expect(page.match(/<[^>]*evil\.example[^>]*/g)?.filter(tag => !/^<[a-z]+ [^<>]*="[^"]*evil\.example[^"]*"/.test(tag)) ?? []).toEqual(
      [],
    );
    expect(page).toContain('&lt;img src=//evil.example/x onerror=alert(2)&gt;');
  });

  it('asks no network for anything', async () => {
    const page = withoutViews(await pageOf(inputs));
    const addresses = [...page.matchAll(/(?:href|src|url\()="?([^"\s)]+)/g)].map(match => match[1] ?? '');
    expect(addresses.filter(address => !address.startsWith('#') && !address.startsWith('data:') && !address.startsWith('//evil'))).toEqual(
      [],
    );
    expect(page).toContain("default-src 'none'");
  });

  it('has unique ids, and refers only to existing ids', async () => {
    const page = withoutViews(await pageOf(inputs));
    const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(match => match[1]);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [, id] of page.matchAll(/(?:href="#|url\(#)([^")]+)/g)) expect(ids).toContain(id);
  });

  it('shows accuracy loss, NPU share, measurements and missed gates at the top', async () => {
    const page = await pageOf(inputs);
    const top = page.slice(page.indexOf('<main>'), page.indexOf('<section'));
    expect(top).toContain('✗ 1 of 2 missed');
    expect(top).toContain('the first reason<br>the second reason');
    expect(top).toContain('third: <code>segm.AP &gt;= 0.5</code>, is missing');
    expect(top).toMatch(/Box AP, float to int8.*−0\.0200.*0\.6000 → 0\.5800/);
    expect(top).toContain('75.0');
    expect(top).toMatch(/per image, measured.*2 ms/);
    expect(top).toMatch(/On the target, estimate.*1\.50 ms/);
  });
});

describe('figures of a board', () => {
  const latency = (p50Ms: number) => ({ repeats: 4, minMs: 1, meanMs: 2, stdMs: 0.5, p50Ms, p90Ms: p50Ms + 1, p99Ms: p50Ms + 2 });
  const part = (name: string, ms: number) => {
    const row = { strategy: { kind: 'whole' }, counts: [{ calls: 1, padded: 0, here: latency(ms) }], perImageMs: ms };
    return { part: name, fed: 'golden', counts: [], imagesWithout: 0, forms: [{ form: 'int8', rows: [row], best: 0, bestAt: [0] }] };
  };
  const board = {
    format: 'tanren-bench/1',
    where: { runner: 'bundle', identity: { device: { kind: 'npu', name: 'stx-krk', driver: '32.0.203.376' } } },
    warmup: 1,
    repeats: 4,
    parts: [part('backbone', 10), part('box_head', 1), part('box_head_tiles', 5)],
  };
  const detector = {
    images: 4,
    steps: { transform: latency(3), backbone: latency(11), box_head: latency(42), total: latency(77) },
    models: { backbone: latency(11), box_head_tiles: latency(40) },
  };
  const pageWith = async (value: JsonObject): Promise<string> => {
    const path = join(folder.path, 'board.json');
    writeFileSync(path, JSON.stringify(value));
    return pageOf({ bench: { board: path } });
  };
  const topOf = (page: string): string => page.slice(page.indexOf('<main>'), page.indexOf('<section'));

  it('have the time of the whole detector at the top, and a row for each of its steps', async () => {
    const page = await pageWith({ ...board, detector });
    expect(topOf(page)).toMatch(/Detector per image, measured.*77 ms.*on stx-krk; its models take 51 ms of it/s);
    const table = page.match(/<table(?:(?!<\/table>).)*The whole detector on 4 images.*?<\/table>/s)?.[0] ?? '';
    const cells = [...table.matchAll(/<tr>(<th scope="row".*?)<\/tr>/gs)].map(([, row = '']) =>
      row.replace(/<[^>]*>/g, '|').replace(/\|+/g, '|'),
    );
    expect(cells).toEqual([
      '|transform|3.00|4.00|5.00|',
      '|backbone|11.0|12.0|13.0|',
      '|box_head|42.0|43.0|44.0|',
      '|total|77.0|78.0|79.0|',
    ]);
  });

  it('have no time per image where single calls were timed, of heads that run once per RoI or canvas', async () => {
    expect(topOf(await pageWith(board))).not.toContain('per image, measured');
  });
});

describe('recovered accuracy', () => {
  const recoveryOf = async (connected: InputPaths): Promise<string> => {
    const page = await pageOf(connected);
    return page.slice(page.indexOf('<section id="recovery"'));
  };

  it('shows how many layers changed, and the SQNR of layers and outputs before and after', async () => {
    const { recovery = {} } = inputs;
    const section = await recoveryOf({ recovery });
    expect(section).toContain('New biases in 1 of 3 layers, by 16 samples.');
    expect(section).toContain('New weights in 1 of 3 layers, by 16 samples.');
    const cells = [...section.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = '']) => row.replace(/<[^>]*>/g, '|').replace(/\|+/g, '|'));
    expect(cells).toEqual(
      expect.arrayContaining([expect.stringContaining('|20.0|24.5|'), expect.stringContaining('|worse|no error|30.0|worse|')]),
    );
    expect(cells).toEqual(expect.arrayContaining([expect.stringContaining('|17.3|19.8|0|changed|')]));
    expect(cells).toEqual(expect.arrayContaining([expect.stringContaining('|11.5|13.3|321|unchanged: the error did not fall|')]));
    expect(cells).toEqual(expect.arrayContaining([expect.stringContaining('|–|–|–|left out: ')]));
  });

  it('refuses the report of another stage', async () => {
    const failure = await failureOf(() => pageOf({ recovery: { biases: inputs.verify?.quantize ?? '' } }));
    expect([failure.code, failure.message]).toEqual(['report-input', expect.stringContaining('recovery.biases')]);
  });
});

describe('placements', () => {
  const rowsOf = (html: string): readonly (readonly string[])[] =>
    [...html.matchAll(/<tr>(<th scope="row".*?)<\/tr>/gs)].map(([, row = '']) =>
      [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell = '']) => cell),
    );
  /** The section of a report with `more`, divided at its headings: the badge of each table with its rows. */
  async function tablesOf(more: (model: JsonObject) => JsonObject): Promise<Readonly<Record<string, readonly (readonly string[])[]>>> {
    const given = JSON.parse(readFileSync(inputs.compile?.target ?? '', 'utf8'));
    const path = join(folder.path, 'placed.json');
    writeFileSync(path, JSON.stringify({ ...given, ...more(given.models[0]) }));
    const page = await pageOf({ compile: { target: path } });
    const section = page.match(/<section id="placement"[^>]*>(.*?)<\/section>/s)?.[1] ?? '';
    const tables = section.split('<h3>Times').slice(1);
    return Object.fromEntries(tables.map(table => [/(measured|estimate)</.exec(table)?.[1] ?? '', rowsOf(table)]));
  }

  it('have device and estimate of every part, also on tiles', async () => {
    const tables = await tablesOf(model => ({
      models: [
        model,
        { ...model, name: 'box_head', replacedBy: ['box_tiles', 'box_fc'] },
        { ...model, name: 'box_tiles' },
        { ...model, name: 'box_fc' },
        { ...model, name: 'mask_head', place: 'cpu' },
      ],
    }));
    expect(tables).toEqual({
      estimate: [
        ['backbone', 'NPU', '1.50', '–', ''],
        ['box_head', 'NPU, on tiles (box_tiles, box_fc)', '3.00', '–', ''],
        ['mask_head', 'CPU', '–', '1.50', ''],
      ],
    });
  });

  it('are measured in a table of their own', async () => {
    const placements = [
      { part: 'backbone', device: 'npu', basis: 'measured', npuMs: 2, cpuMs: 31.5 },
      { part: 'box_head', device: 'cpu', basis: 'estimate', npuMs: 7, cpuMs: 5 },
      { part: 'mask_head', device: 'cpu', basis: 'float', cpuMs: 4 },
    ];
    expect(await tablesOf(() => ({ placements }))).toEqual({
      measured: [['backbone', 'NPU', '2.00', '31.5', '']],
      estimate: [
        ['box_head', 'CPU', '7.00', '5.00', ''],
        ['mask_head', 'CPU', '–', '4.00', 'its model is not quantized, only the CPU runs it'],
      ],
    });
  });

  it('have no section where all parts run on the NPU', async () => {
    expect(await pageOf({ compile: inputs.compile ?? {} })).not.toContain('id="placement"');
  });
});

describe('memory', () => {
  it('has arena, bound and gap of every NPU part, the tensors of the peak, and units beyond on-chip memory', async () => {
    const page = await pageOf({ compile: inputs.compile ?? {} });
    const section = page.match(/<section id="memory"[^>]*>(.*?)<\/section>/s)?.[1] ?? '';
    const rows = [...section.matchAll(/<tr>(<th scope="row".*?)<\/tr>/gs)].map(([, row = '']) =>
      [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell = '']) => cell),
    );
    expect(rows.map(row => row.filter(cell => !cell.includes('evil')))).toEqual([
      ['backbone', '256 B', '192 B', '64 B', '320 B', '1 of 8 units (100 B)'],
      ['100', '0'],
      ['<code>y</code>', '64', '128'],
      ['Conv', '300 B', '2 of 5 rows, weights read for each', '400 B', '100 B'],
    ]);
    expect(section).toContain('Live activations of backbone over 8 units: at most 192 B');
  });

  it('has no section for reports without a plan, such as those of 0.1', async () => {
    const given = JSON.parse(readFileSync(inputs.compile?.target ?? '', 'utf8'), (key, value) => (key === 'memory' ? undefined : value));
    const path = join(folder.path, 'no-memory.json');
    writeFileSync(path, JSON.stringify(given));
    const page = await pageOf({ compile: { target: path } });
    expect(page).toContain('id="partition"');
    expect(page).not.toContain('id="memory"');
  });
});

describe('batches of RoIs', () => {
  const rowsWith = (page: string, badge: string): readonly (readonly string[])[] =>
    [...page.matchAll(/<tr>(.*?)<\/tr>/gs)]
      .filter(([row]) => row.includes(`>${badge}<`))
      .map(([, row = '']) =>
        [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell = '']) => cell.replaceAll(/<[^>]*>/g, '').trim()),
      );

  it('are estimated by size, with padded RoIs, and the best one is marked', async () => {
    const rows = rowsWith(await pageOf({ compile: inputs.compile ?? {} }), 'best');
    expect(rows.map(cells => cells.slice(0, 3))).toEqual([['4', '4.0', '2.0']]);
  });

  it('are measured for every batching, with padded RoIs, and the fastest one is marked', async () => {
    const page = await pageOf({ bench: inputs.bench ?? {} });
    expect(rowsWith(page, 'fastest').map(cells => [cells[0], cells[4]])).toEqual([
      ['as one batch', '0.0'],
      ['as one batch', '0.0'],
    ]);
    expect(page).toMatch(/one by one.*?>3\.0</s);
  });
});

describe('overlays', () => {
  it('show the images that differ most first', async () => {
    const { detections, data } = inputs;
    const ids = (page: string): string[] => [...page.matchAll(/<h3>Image (\d+)/g)].map(match => match[1] ?? '');
    expect(ids(await pageOf({ detections, data } as InputPaths))).toEqual(['2', '1']);
    expect(ids(await pageOf({ detections, data } as InputPaths, { overlays: { choose: 'first', images: 1 } }))).toEqual(['1']);
  });

  it('pair by class and location, and list unpaired objects', async () => {
    const { detections, data } = inputs;
    const page = await pageOf({ detections, data } as InputPaths, { overlays: { images: 1, changes: 0 } });
    const rows = [
      ...page.slice(page.indexOf('Objects on the two sides')).matchAll(/<tr><th scope="row" class="t">(\d+)<\/th>(.*?)<\/tr>/g),
    ].map(([, number, cells = '']) => [number, ...[...cells.matchAll(/<td class="n">(.*?)<\/td>/g)].map(cell => cell[1])]);
    // Boxes of 20 × 20, three pixels apart: 17 · 20 of 23 · 20 pixels.
    expect(rows).toEqual([
      ['1', '0.900', '0.700', (17 / 23).toFixed(3)],
      ['2', '0.800', 'not found', '–'],
    ]);
    expect(page.match(/class="mask/g)).toHaveLength(3);
    expect(page.match(/class="mask lone/g)).toHaveLength(1);
  });

  it('list the objects that are lost or changed, the worst first, with a picture of both sides', async () => {
    const { detections, data } = inputs;
    const page = await pageOf({ detections, data } as InputPaths, { overlays: { images: 0 } });
    expect(page).toContain(
      'Objects from float to int8: lost 1, found 0, changed 1, kept 1, missed by both 0; false positives: new 0, resolved 0.',
    );
    const rows = [
      ...page
        .slice(page.indexOf('The 2 worst of 2 changes'), page.indexOf('<section id="error-kinds"'))
        .matchAll(/<tr><th scope="row" class="t">(\w+)<\/th>([\s\S]*?)<\/tr>/g),
    ].map(([, kind, cells = '']) => [kind, ...[...cells.matchAll(/<td class="n">(.*?)<\/td>/g)].map(cell => cell[1])]);
    // The masks of a square that moved by 3 of 20 pixels share 17 columns of 23; its score fell by 0.2.
    expect(rows).toEqual([
      ['lost', '2', '+0.800', '0.800', '–', '1.000', '–'],
      ['changed', '2', `+${(1 - 17 / 23 + 0.2).toFixed(3)}`, '0.900', '0.700', '1.000', (17 / 23).toFixed(3)],
    ]);
    expect(page.match(/data:image\/webp/g)).toHaveLength(2);
  });

  it('show the cost of each kind of error on each side, and the share of correct pixels', async () => {
    const { detections, data } = inputs;
    const page = await pageOf({ detections, data } as InputPaths, { overlays: { images: 0, changes: 0 } });
    const cells = (title: string): readonly (string | undefined)[] =>
      [...(page.split(`<th scope="row" class="t">${title}</th>`)[1]?.split('</tr>')[0] ?? '').matchAll(/<td class="n">(.*?)<\/td>/g)].map(
        cell => cell[1],
      );
    // Three objects of one class. float finds all of them, and has a box on nothing with the lowest score; int8 misses one of three: 67 of 101 recalls are reached.
    expect(page).toContain('float: 1.0000, int8: 0.6634');
    expect(cells('background')).toEqual(['1', '0.0000', '0', '0.0000']);
    expect(cells('missed')).toEqual(['0', '0.0000', '1', '0.3366']);
    const [float, int8] = cells('mIoU');
    expect([float, Number(int8) < 1]).toEqual(['1.0000', true]);
  });

  it('count objects of images in which no side found anything, as far as images were evaluated', async () => {
    const { detections, data } = inputs;
    const whole = JSON.parse(readFileSync((data as { annotations: string }).annotations, 'utf8'));
    const [object] = whole.annotations;
    const further = [91, 92].map(id => ({ ...whole.images[0], id, file_name: whole.images[0].file_name }));
    const annotations = join(folder.path, 'further.json');
    const objects = further.map(({ id }) => ({ ...object, id: 900 + id, image_id: id }));
    writeFileSync(
      annotations,
      JSON.stringify({ ...whole, images: [...whole.images, ...further], annotations: [...whole.annotations, ...objects] }),
    );
    const metrics = (images: number): string => {
      const path = join(folder.path, `images-${images}.json`);
      writeFileSync(path, JSON.stringify({ bbox: { AP: 0.5 }, images }));
      return path;
    };
    const missed = async (images: number | undefined): Promise<string | undefined> => {
      const more = images === undefined ? {} : { metrics: { float: metrics(images), int8: metrics(images) } };
      const page = await pageOf({ detections, data: { ...(data as object), annotations }, ...more } as unknown as InputPaths, {
        overlays: { images: 0, changes: 0 },
      });
      return /<th scope="row" class="t">missed<\/th><td class="n">(\d+)/.exec(page)?.[1];
    };
    const count = whole.images.length;
    expect([await missed(undefined), await missed(count), await missed(count + 1), await missed(count + 2)]).toEqual(['0', '0', '1', '2']);
  });

  it('show mask scores next to box scores if masks have their own, and count their difference', async () => {
    const scored = (side: string, change: (score: number) => number): string => {
      const path = join(folder.path, `scored-${side}.json`);
      const found = JSON.parse(readFileSync(inputs.detections?.float ?? '', 'utf8')) as { image_id: number; score: number }[];
      writeFileSync(
        path,
        JSON.stringify(found.map(one => ({ ...one, mask_score: one.image_id === 1 ? change(one.score) : one.score / 2 }))),
      );
      return path;
    };
    const detections = { float: scored('float', score => score / 2), int8: scored('int8', score => score / 3) };
    const page = await pageOf({ detections, data: inputs.data } as InputPaths, { overlays: { images: 1 } });
    // Boxes are equal everywhere; the masks of image 1 alone have other scores.
    expect(page).toContain('<h3>Image 1 ');
    expect(page).toMatch(/Mask score, float.*Mask score, int8/s);
    expect(page).toMatch(/0\.900<\/td><td class="n">0\.900<\/td><td class="n">0\.450<\/td><td class="n">0\.300/);
  });

  it('want both sides and the data', async () => {
    const { detections, data } = inputs;
    expect(await failureOf(() => pageOf({ detections } as InputPaths))).toMatchObject({ code: 'report-overlays' });
    expect(await failureOf(() => pageOf({ data } as InputPaths))).toMatchObject({ code: 'report-overlays' });
    expect(await failureOf(() => pageOf({ data, detections: { int8: detections?.int8 } } as unknown as InputPaths))).toMatchObject({
      code: 'report-overlays',
    });
  });
});

describe('an artifact of another kind', () => {
  it.each(['verify', 'quantization', 'compile', 'bench', 'metrics'])('on %s is reported with the reason', async port => {
    const path = join(folder.path, `wrong-${port}.json`);
    writeFileSync(path, JSON.stringify(port === 'metrics' ? [1] : { values: 5, activations: 7, format: 'tanren-other/1' }));
    const run = () => pageOf({ [port]: { one: path } });
    expect(await failureOf(run)).toMatchObject({ code: 'report-input' });
    await expect(run()).rejects.toThrow(`input "${port}.one": `);
  });

  it('on sketches too', async () => {
    const path = join(folder.path, 'wrong-sketches.json');
    writeFileSync(path, '{}');
    expect(await failureOf(() => pageOf({ sketches: { one: path } }))).toMatchObject({ code: 'bad-sketches' });
  });
});
