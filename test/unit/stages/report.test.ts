/** The report page: the document that is shown without its script, the data of its views, invalid inputs, and escaping of names. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Json, JsonObject } from '../../../src/base/json.js';
import type { ChangeRow } from '../../../src/detection/coco/change-list.js';
import type { JudgedSides } from '../../../src/detection/coco/judged-sides.js';
import { findAnswer } from '../../../src/report/saved/find-answer.js';
import { findAnswers } from '../../../src/report/saved/saved-answers.js';
import type { InputPaths } from '../../../src/stage/define-stage.js';
import { report } from '../../../stages/report/stage.js';
import { failureOf } from '../../support/error-code.js';
import { rowsOf, textOf } from '../../support/read-markup.js';
import { BUILD, CONNECTED, givenReportInputs, HOSTILE } from '../../support/report-inputs.js';
import { givenFolder, runStage } from '../../support/run-stage.js';

const folder = givenFolder('report');
let inputs: Awaited<ReturnType<typeof givenReportInputs>>;
beforeAll(async () => {
  inputs = await givenReportInputs(folder.path);
});

async function pageOf(connected: InputPaths, params: JsonObject = {}, build = BUILD): Promise<string> {
  const { outputs } = await runStage(report, { params, inputs: connected, folder: folder.path, build });
  return readFileSync(outputs.page ?? '', 'utf8');
}

/** The document alone: data and code of the views come last. */
function documentOf(page: string): string {
  const at = page.indexOf('<div id="app"');
  expect(at).toBeGreaterThan(0);
  return page.slice(page.indexOf('<body>'), at);
}

function answerOf(page: string, key: string): Json | undefined {
  const found = findAnswer(findAnswers(page), key);
  return found?.kind === 'json' ? found.value : undefined;
}

const sectionsOf = (page: string): string[] => [...documentOf(page).matchAll(/<section id="([^"]+)"/g)].map(match => match[1] ?? '');

describe('the document', () => {
  it('has the sections whose inputs are connected', async () => {
    expect(sectionsOf(await pageOf(inputs))).toEqual([
      'accuracy',
      'verification',
      'quantization',
      'sensitivity',
      'recovery',
      'partition',
      'latency',
      'sweeps',
      'pipeline',
    ]);
    expect(sectionsOf(await pageOf({}))).toEqual(['pipeline']);
    const { metrics, bench } = inputs;
    expect(sectionsOf(await pageOf({ metrics, bench }))).toEqual(['accuracy', 'latency', 'pipeline']);
  });

  it('and the data have the same bytes for the same inputs', async () => {
    const page = await pageOf(inputs);
    expect(await pageOf(inputs)).toBe(page);
    // Records have no order: the engine's keys sort them.
    const turned = Object.fromEntries(
      Object.entries(inputs).map(([port, record]) => [port, Object.fromEntries(Object.entries(record).reverse())]),
    );
    expect(await pageOf(turned)).toBe(page);
  });

  it('lets no name be markup', async () => {
    const page = await pageOf(
      { ...inputs, metrics: { [HOSTILE]: inputs.metrics?.float ?? '', float: inputs.metrics?.float ?? '' } },
      { title: HOSTILE },
    );
    // The data and the views.
    expect(page.match(/<\/script/g)).toHaveLength(2);
    const shown = documentOf(page);
    expect(shown).not.toContain('<script');
    expect(shown).not.toContain('<img');
    expect(page.slice(0, page.indexOf('<style'))).not.toContain('<img');
    expect(shown).not.toContain('\u202E');
    expect(shown.match(/<[^>]*evil\.example[^>]*/g)?.filter(tag => !/^<[a-z]+ [^<>]*="[^"]*evil\.example[^"]*"/.test(tag)) ?? []).toEqual(
      [],
    );
    expect(shown).toContain('&lt;img src=//evil.example/x onerror=alert(2)');
  });

  it('asks no network for anything', async () => {
    const page = await pageOf(inputs);
    const addresses = [...documentOf(page).matchAll(/\s(?:href|src)="([^"]+)"/g)].map(match => match[1] ?? '');
    expect(addresses.length).toBeGreaterThan(5);
    expect(addresses.filter(address => !address.startsWith('#'))).toEqual([]);
    expect(page).toContain("default-src 'none'");
  });

  it('has unique ids, and refers only to existing ids', async () => {
    const page = documentOf(await pageOf(inputs));
    const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(match => match[1]);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [, id] of page.matchAll(/(?:href="#|url\(#)([^")]+)/g)) expect(ids).toContain(id);
  });

  it('shows accuracy loss, NPU share, measurements and missed gates at the top, the missed ones first', async () => {
    const page = documentOf(await pageOf(inputs));
    const top = textOf(page.slice(0, page.indexOf('<section id')));
    expect(top).toContain('✗ 1 of 2 missed');
    expect(top).toMatch(/All gates ✗ missed third : segm\.AP >= 0\.5 , is missing the first reason the second reason ✓ met/);
    expect(top).toMatch(/Box AP, float to int8 −0\.0200 0\.6000 → 0\.5800/);
    expect(top).toContain('75.0\u202F% of the MACs');
    expect(top).toMatch(/per image, measured 2 ms/);
    expect(top).toMatch(/On the target, estimate 1\.50 ms/);
  });

  it('names the results that a partial page lacks', async () => {
    const missing = [{ stage: 'slow', outcome: 'failed', reason: 'it ended with exit code 3' } as const];
    const page = textOf(documentOf(await pageOf({}, {}, { ...BUILD, missing })));
    expect(page).toMatch(/partial This page lacks the results of a stage\. .* slow failed: it ended with exit code 3/);
  });

  it('has outcome, time, artifacts and inputs of each stage', async () => {
    expect(rowsOf(documentOf(await pageOf({})), /^Stages in topological order/)).toEqual([
      ['first', 'export', '✓ up to date', '1.5 s', '1.2 kB', 'abababababab', 'source checkpoint'],
      ['second@a', 'simplify', '↓ restored', '1.5 s', '1.2 kB', 'abababababab', 'first.model'],
      ['second@b', 'simplify', '✓ built', '1.5 s', '1.2 kB', 'abababababab', 'first.model'],
      ['third', 'simplify', '✓ built', '1.5 s', '1.2 kB', 'abababababab', 'second@a.model, first.model'],
    ]);
  });

  it('has the figures of every side, and differences to the first', async () => {
    const rows = rowsOf(documentOf(await pageOf({ metrics: inputs.metrics ?? {} })), /^Boxes: the 12/);
    expect(rows).toHaveLength(12);
    expect(rows[0]).toEqual(['AP', '0.6000', '0.5800', '−0.0200']);
    expect(rows[5]).toEqual(['APlarge', '–', '–', '–']);
  });

  it('has the worst value of each step of `verify`, and its detections', async () => {
    const page = documentOf(await pageOf({ verify: inputs.verify ?? {} }));
    expect(rowsOf(page, /^Outputs: the worst/).map(([step, , ...figures]) => [step, ...figures])).toEqual([
      ['quantize', '18.0', '0.990000', '0.5'],
    ]);
    expect(rowsOf(page, /^Detections, matched/)).toEqual([['quantize', '2', '2', '1', '1', '1', '0.9000', '0.8000', '0.1000']]);
  });

  it('names the values with the lowest SQNR of each part, and the most expensive one', async () => {
    const page = documentOf(await pageOf(inputs));
    const [row = []] = rowsOf(page, /^The quantized models/);
    expect(row.slice(0, 5)).toEqual(['backbone', 'uint8 / int8', '3', '1', '1']);
    expect([row[6], row[7], row[8]]).toEqual(['20.0', 'a/b/wide', '16.0']);
    expect(row[9]).toContain('alert(1)');
    expect(row.slice(10)).toEqual(['62.5\u202F%', 'measured']);
  });

  it('has a row for each configuration of a sweep, and marks the front', async () => {
    const page = documentOf(await pageOf({ sweeps: inputs.sweeps ?? {} }));
    expect(textOf(page)).toContain('2 of 3 configurations were built');
    const rows = rowsOf(page, '3 configurations of presets');
    expect(rows.map(([number, , , ap, ms, , status]) => [number, ap, ms, status?.slice(0, 7)])).toEqual([
      ['#1 ★', '0.5', '10', 'built'],
      ['#2 ★', '0.25', '5', 'built'],
      ['#3', 'equal', '–', 'failed:'],
    ]);
    expect(await failureOf(() => pageOf({ sweeps: { presets: inputs.bench?.cpu ?? '' } }))).toMatchObject({ code: 'report-input' });
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
    return documentOf(await pageOf({ bench: { board: path } }));
  };

  it('have the time of the whole detector at the top, and a row for each of its steps', async () => {
    const page = await pageWith({ ...board, detector });
    expect(textOf(page)).toMatch(/Detector per image, measured 77 ms on stx-krk; its models take 51 ms of it/);
    expect(rowsOf(page, /^The whole detector on 4 images/)).toEqual([
      ['transform', '3.00', '4.00', '5.00'],
      ['backbone', '11.0', '12.0', '13.0'],
      ['box_head', '42.0', '43.0', '44.0'],
      ['total', '77.0', '78.0', '79.0'],
    ]);
  });

  it('have no time per image where single calls were timed, of heads that run once per RoI or canvas', async () => {
    expect(await pageWith(board)).not.toContain('per image, measured');
  });
});

describe('recovered accuracy', () => {
  it('shows how many layers changed, and the SQNR of layers and outputs before and after', async () => {
    const page = documentOf(await pageOf({ recovery: inputs.recovery ?? {} }));
    expect(textOf(page)).toContain('New biases in 1 of 3 layers, by 16 samples.');
    expect(textOf(page)).toContain('New weights in 1 of 3 layers, by 16 samples.');
    expect(rowsOf(page, 'biases: outputs.').map(row => row.slice(1))).toEqual([
      ['20.0', '24.5', ''],
      ['no error', '30.0', '✗ worse'],
    ]);
    expect(rowsOf(page, 'biases: layers.')[0]?.slice(1)).toEqual(['17.3', '19.8', '0', 'changed']);
    expect(rowsOf(page, 'rounding: layers.')[1]?.slice(1)).toEqual(['11.5', '13.3', '321', 'unchanged: the error did not fall']);
    expect(rowsOf(page, 'rounding: layers.')[2]?.slice(1, 4)).toEqual(['–', '–', '–']);
  });

  it('refuses the report of another stage', async () => {
    const failure = await failureOf(() => pageOf({ recovery: { biases: inputs.verify?.quantize ?? '' } }));
    expect([failure.code, failure.message]).toEqual(['report-input', expect.stringContaining('recovery.biases')]);
  });
});

describe('placements', () => {
  /** The tables of a report with `more`: their rows by basis. */
  async function tablesOf(more: (model: JsonObject) => JsonObject): Promise<Readonly<Record<string, readonly (readonly string[])[]>>> {
    const given = JSON.parse(readFileSync(inputs.compile?.target ?? '', 'utf8'));
    const path = join(folder.path, 'placed.json');
    writeFileSync(path, JSON.stringify({ ...given, ...more(given.models[0]) }));
    const page = documentOf(await pageOf({ compile: { target: path } }));
    const tables = ['measured', 'estimate'].map(basis => [basis, rowsOf(page, `Placement, ${basis}`)] as const);
    return Object.fromEntries(tables.filter(([, rows]) => rows.length > 0));
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

  it('have no table where all parts run on the NPU', async () => {
    expect(documentOf(await pageOf({ compile: inputs.compile ?? {} }))).not.toContain('Placement, ');
  });
});

it('batchings of RoIs are measured each, with padded RoIs, and the fastest one is marked', async () => {
  const page = documentOf(await pageOf({ bench: inputs.bench ?? {} }));
  const rows = rowsOf(page, /^backbone: batchings/);
  expect(rows.map(([batching, form, , , padded, mark]) => [batching, form, padded, mark])).toEqual([
    ['as one batch', 'float', '0.0', '✓ fastest'],
    ['one by one', 'float', '3.0', ''],
    ['as one batch', 'int8', '0.0', '✓ fastest'],
    ['one by one', 'int8', '3.0', ''],
  ]);
});

it('models have their nodes by device, and an estimate with its bounds', async () => {
  const page = documentOf(await pageOf({ compile: inputs.compile ?? {} }));
  expect(rowsOf(page, 'Models, with estimated times')).toEqual([
    ['backbone', '9', '4', '3', '2', '2 (1 NPU)', '1,000', '75.0\u202F%', '1', '1.50', '1.00', '2.00', '1 of 3 units are not', ''],
  ]);
  expect(textOf(page)).toContain('backbone: 1 of 3 units are not on the NPU: ');
});

describe('the data of the views', () => {
  it('has what is connected under the addresses of its stages, and sources under those of the page', async () => {
    const page = await pageOf(inputs, {}, CONNECTED);
    for (const key of [
      'pipeline',
      'judgments',
      'artifact?port=metrics&stage=float',
      'artifact?port=detections&stage=int8',
      'artifact?port=report&stage=compile',
      'input?name=sketches&stage=quantize',
      'input?name=data.annotations&stage=float',
      'input?name=sweeps.presets&stage=report',
    ])
      expect([key, answerOf(page, key) !== undefined]).toEqual([key, true]);
  });

  it('has the histograms of as many values as are wanted, those with the largest loss', async () => {
    const names = async (tensors: number): Promise<readonly string[]> => {
      const { quantization, sketches } = inputs;
      const page = await pageOf({ quantization, sketches } as InputPaths, { tensors }, CONNECTED);
      return (answerOf(page, 'input?name=sketches&stage=quantize') as { values: { name: string }[] }).values.map(({ name }) => name);
    };
    expect(await names(1)).toEqual([HOSTILE]);
    expect([...(await names(2))].sort()).toEqual([HOSTILE, 'a/b/wide'].sort());
    expect(await names(1000)).toHaveLength(3);
  });

  /** With `more` params, and the first and last side. */
  const sidesWith = async (params: JsonObject, more: InputPaths = {}): Promise<string> => {
    const { detections, data } = inputs;
    return pageOf({ detections, data, ...more } as InputPaths, params, CONNECTED);
  };
  const judgedOf = (page: string) => answerOf(page, 'judgments') as unknown as JudgedSides;
  const idsOf = (page: string): readonly number[] =>
    (answerOf(page, 'input?name=data.annotations&stage=int8') as { images: { id: number }[] }).images.map(({ id }) => id);
  const picturesOf = (page: string): readonly string[] =>
    Object.entries(findAnswers(page)).flatMap(([key, { kind }]) =>
      kind === 'bytes' ? [new URLSearchParams(key.split('?')[1]).get('path') ?? ''] : [],
    );

  it('has the images that differ most first, or the first by id, and pixels of those that are wanted', async () => {
    expect(idsOf(await sidesWith({}))).toEqual([2, 1]);
    expect(idsOf(await sidesWith({ overlays: { choose: 'first' } }))).toEqual([1, 2]);
    expect(picturesOf(await sidesWith({ views: { images: 1 }, overlays: { images: 0, changes: 0 } }))).toEqual(['2.jpg']);
    expect(picturesOf(await sidesWith({ views: { images: 0 }, overlays: { images: 0, changes: 2 } }))).toEqual(['2.jpg']);
    expect(picturesOf(await sidesWith({ views: { images: 0 }, overlays: { images: 0, changes: 0 } }))).toEqual([]);
  });

  it('has masks of the images with pixels alone, and no detections below the least score', async () => {
    const found = async (images: number) => {
      const page = await sidesWith({ views: { images }, overlays: { images: 0, changes: 0 } });
      return (answerOf(page, 'artifact?port=detections&stage=float') as { image_id: number; segmentation?: Json }[]).map(one => [
        one.image_id,
        one.segmentation !== undefined,
      ]);
    };
    // One of image 2 has a score of 0.2.
    expect(await found(2)).toEqual([
      [1, true],
      [2, true],
      [2, true],
    ]);
    expect(await found(1)).toEqual([
      [1, false],
      [2, true],
      [2, true],
    ]);
  });

  it('has the objects that are lost or changed, the worst first', async () => {
    const { changes } = judgedOf(await sidesWith({}));
    expect([changes.counts, changes.kept, changes.missed]).toEqual([{ lost: 1, found: 0, changed: 1, extra: 0, resolved: 0 }, 1, 0]);
    // The masks of a square that moved by 3 of 20 pixels share 17 columns of 23; its score fell by 0.2.
    const row = ({ kind, image, cost, before, after }: ChangeRow) => [
      kind,
      image.id,
      cost,
      before?.score,
      after?.score,
      before?.iou,
      after?.iou,
    ];
    expect(changes.rows.map(row)).toEqual([
      ['lost', '2', expect.closeTo(0.8), 0.8, undefined, 1, undefined],
      ['changed', '2', expect.closeTo(1 - 17 / 23 + 0.2), 0.9, 0.7, 1, expect.closeTo(17 / 23)],
    ]);
    expect(changes.rows[1]?.truth).toEqual({ box: [5, 10, 20, 20], outline: 'M5 10L25 10L25 30L5 30Z' });
    expect(judgedOf(await sidesWith({ overlays: { changes: 1 } })).changes.rows).toHaveLength(1);
  });

  it('has the cost of each kind of error on each side, and the share of correct pixels', async () => {
    const { sides } = judgedOf(await sidesWith({}));
    // Three objects of one class. float finds all of them, and has a box on nothing with the lowest score; int8 misses one of three: 67 of 101 recalls are reached.
    expect(sides.map(({ stage, errors: { ap, kinds } }) => [stage, ap.toFixed(4), kinds.background.count, kinds.missed.count])).toEqual([
      ['float', '1.0000', 1, 0],
      ['int8', '0.6634', 0, 1],
    ]);
    expect(sides[1]?.errors.kinds.missed.cost.toFixed(4)).toBe('0.3366');
    expect([sides[0]?.pixels?.meanIou, (sides[1]?.pixels?.meanIou ?? 1) < 1]).toEqual([1, true]);
  });

  it('counts objects of images in which no side found anything, as far as images were evaluated', async () => {
    const { data } = inputs;
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
    const missed = async (images: number | undefined): Promise<number | undefined> => {
      const more = images === undefined ? {} : { metrics: { float: metrics(images), int8: metrics(images) } };
      const page = await sidesWith({}, { data: { ...(data as object), annotations }, ...more } as unknown as InputPaths);
      return judgedOf(page).sides[0]?.errors.kinds.missed.count;
    };
    const count = whole.images.length;
    expect([await missed(undefined), await missed(count), await missed(count + 1), await missed(count + 2)]).toEqual([0, 0, 1, 2]);
  });

  it('counts the difference of mask scores where masks have their own', async () => {
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
    // Boxes are equal everywhere; the masks of image 1 alone have other scores.
    expect(idsOf(await sidesWith({}, { detections }))).toEqual([1, 2]);
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
