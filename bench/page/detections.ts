/** Measures the view "Results" on a data set of the size of val2017: 5,000 images, 97,000 detections per side, with masks. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { OpenedPage } from '../../test/support/page-driver.js';
import { DIST } from '../../test/support/shapes-project.js';
import { runTanren } from '../../test/support/start-tanren.js';
import { writeCocoSet } from '../coco-set.js';
import type { Example } from '../example.js';
import { formatSamples, printTable } from '../table.js';
import { summarize } from '../timing.js';
import { makeTrivialFolder } from '../trivial-graph.js';
import { type MainThread, traceMainThread } from './main-thread.js';
import { aimRow, type ServedPage, waitUntil, withPage } from './served-page.js';

const PIPELINE = `version: 1
plugins: {given: ./given.js}
sources:
  left: left.json
  right: right.json
  data: {annotations: instances.json, images: images}
stages:
  left: {uses: given, inputs: {file: "\${sources.left}", data: "\${sources.data}"}}
  right: {uses: given, inputs: {file: "\${sources.right}", data: "\${sources.data}"}}
`;

/** A stage whose detections are given: what is measured is the page. */
const PLUGIN = `import { copyFile } from 'node:fs/promises';
import { defineStage, port, recordPort } from ${JSON.stringify(pathToFileURL(join(DIST, 'src/stage/public.js')).href)};
export const given = defineStage({
  name: 'given', version: 1, description: 'Detections of a file.', params: { type: 'object', additionalProperties: false },
  inputs: { file: port('any'), data: recordPort({ annotations: 'annotations', images: 'images' }) },
  outputs: { detections: port('detections') }, determinism: 'exact', runsModels: 'never',
  run: ({ inputs, outputs }) => copyFile(inputs.file, outputs.detections),
});
`;

const [AIM_FILTER_MS, AIM_LIST_MS] = [100, 2_000];

export async function measureDetections(_example: Example): Promise<void> {
  const { folder, remove } = makeTrivialFolder('page-detections');
  try {
    writeSet(folder);
    const { exitCode, stderr } = runTanren(folder, 'build');
    if (exitCode !== 0) throw new Error(`the detections are not there: ${stderr}`);
    await withPage(folder, ['ui', '--port', '0'], measureList);
  } finally {
    remove();
  }
}

function writeSet(folder: string): void {
  const { detections } = writeCocoSet(folder);
  renameSync(detections, join(folder, 'left.json'));
  const left = JSON.parse(readFileSync(join(folder, 'left.json'), 'utf8')) as readonly { readonly score: number }[];
  const right = left
    .filter((_, index) => index % 17 !== 3)
    .map((one, index) => ({ ...one, score: index % 5 === 0 ? one.score * 0.7 : one.score }));
  writeFileSync(join(folder, 'right.json'), JSON.stringify(right));
  mkdirSync(join(folder, 'images'));
  writeFileSync(join(folder, 'images/none.txt'), '');
  writeFileSync(join(folder, 'given.js'), PLUGIN);
  writeFileSync(join(folder, 'pipeline.yaml'), PIPELINE);
}

const FIRST_ROWS = "document.querySelectorAll('.results .data tbody tr').length > 5";

const LIST = "document.querySelectorAll('.tools fieldset button').length > 4";

/** The first words of the buttons. */
const FILTERS = ['lost ', 'changed ', 'found ', 'equal '];

const ROUNDS = 5;

async function measureList(served: ServedPage): Promise<void> {
  const { server, browser } = served;
  const opened = await served.open();
  const { page } = opened;
  // The first request examines the project; here the view is measured.
  await opened.go('/');
  const before = served.processorMs();
  let [firstMs, listMs] = [Number.NaN, Number.NaN];
  const opening = await traceMainThread(browser, page, async () => {
    const start = performance.now();
    await page.goto(`http://127.0.0.1:${server.port}/results#token=${server.token}`);
    await waitUntil(opened, FIRST_ROWS);
    firstMs = performance.now() - start;
    await waitUntil(opened, LIST);
    listMs = performance.now() - start;
  });
  const serverMs = served.processorMs() - before;
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) for (const word of FILTERS) times.push(await timeFilter(opened, word));
  const works = await traceInteractions(served, opened);
  const most = works.reduce((a, b) => (a.totalMs > b.totalMs ? a : b));
  const filters = summarize(times);
  printTable(`The view "Results", 5,000 images, 97,000 detections of the left side`, [
    ['', 'value', 'aim', ''],
    ['the names of the images after opening', `${firstMs.toFixed(0)} ms`],
    aimRow('the list with its filters', listMs, AIM_LIST_MS, 'ms'),
    ['  processor time of the server', `${serverMs} ms`],
    ['  processor time of the main thread', `${opening.totalMs.toFixed(0)} ms, longest task ${opening.longestMs.toFixed(0)} ms`],
    aimRow(`a filter until the list is drawn, median of ${times.length}`, filters.median, AIM_FILTER_MS, 'ms'),
    ['  quartiles', formatSamples(filters)],
    ['  most', `${Math.max(...times).toFixed(0)} ms`],
    aimRow(`processor time of the main thread, most of ${works.length} filters and lists`, most.totalMs, AIM_FILTER_MS, 'ms'),
    [`  of "${most.name}"; longest task of all`, `${Math.max(...works.map(({ longestMs }) => longestMs)).toFixed(0)} ms`],
  ]);
}

/** From the click to the frame that shows the filtered list. */
async function timeFilter({ page }: OpenedPage, word: string): Promise<number> {
  return page.evaluate<number>(`new Promise(end => {
    const button = [...document.querySelectorAll('.tools fieldset button')].find(one => one.textContent.startsWith(${JSON.stringify(word)}));
    const start = performance.now();
    button.click();
    const look = () => button.getAttribute('aria-pressed') === 'true' ? requestAnimationFrame(() => setTimeout(() => end(performance.now() - start))) : requestAnimationFrame(look);
    look();
  })`);
}

/** Everything that filters, sorts, scrolls or picks, as what a page does to itself. */
const INTERACTIONS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(FILTERS.map(word => [word.trim(), clickFilter(word)])),
  'small objects': choose('Size', 'small'),
  'one class': choose('Class', '5'),
  'all classes': choose('Class', ''),
  'all sizes': choose('Size', ''),
  'score from 0.5': choose('Score from', '0.5'),
  'all scores': choose('Score from', ''),
  all: clickFilter('all'),
  'sort by name': "document.querySelector('.results .data thead button').click()",
  'sort by lost': "document.querySelectorAll('.results .data thead button')[1].click()",
  'pick a row': "document.querySelectorAll('.results .data tbody tr')[5].click()",
  scroll: "document.querySelector('.results .data').scrollTop = 60000",
};

function clickFilter(word: string): string {
  return `[...document.querySelectorAll('.tools fieldset button')].find(one => one.textContent.startsWith(${JSON.stringify(word)})).click()`;
}

function choose(label: string, value: string): string {
  const select = `[...document.querySelectorAll('.tools label')].find(one => one.textContent.startsWith(${JSON.stringify(label)})).querySelector('select')`;
  return `(select => { select.value = ${JSON.stringify(value)}; select.dispatchEvent(new Event('change', { bubbles: true })); })(${select})`;
}

/** What belongs to an interaction and comes after its frame: the picture and the masks of the image that is shown. */
const SETTLED_MS = 200;

interface Interaction extends MainThread {
  readonly name: string;
}

async function traceInteractions({ browser }: ServedPage, { page }: OpenedPage): Promise<readonly Interaction[]> {
  const works: Interaction[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, act] of Object.entries(INTERACTIONS)) {
      const work = await traceMainThread(browser, page, async () => {
        await page.evaluate(`new Promise(end => { ${act}; requestAnimationFrame(() => setTimeout(end)); })`);
        await page.waitForTimeout(SETTLED_MS);
      });
      works.push({ name, ...work });
    }
  }
  return works;
}
