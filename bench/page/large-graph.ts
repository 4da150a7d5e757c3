/** Measures the view "Model" on a graph of 2,243 nodes: torchvision's export of a whole detector. */
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OpenedPage } from '../../test/support/page-driver.js';
import { runTanren } from '../../test/support/start-tanren.js';
import type { Example } from '../example.js';
import { printTable } from '../table.js';
import { makeTrivialFolder } from '../trivial-graph.js';
import { quantileOf, traceMainThread } from './main-thread.js';
import { aimRow, type ServedPage, waitUntil, withPage } from './served-page.js';

const MODEL = 'examples/shapes/models/maskrcnn-shapes-torchvision.onnx';
const PIPELINE = `version: 1
sources: {model: model.onnx}
stages:
  whole:
    uses: command
    with: {run: [cp, in, out.onnx], inputs: {in: in}, outputs: {model: {kind: onnx-model, path: out.onnx}}}
    inputs: {in: "\${sources.model}"}
`;
const [AIM_BOXES, AIM_OVERVIEW_MS, AIM_ALL_MS, AIM_FRAME_MS] = [300, 2_000, 30_000, 8];

/** Moves of the pointer per way of panning. */
const MOVES = 120;

export async function measureLargeGraph(_example: Example): Promise<void> {
  const { folder, remove } = makeTrivialFolder('page-graph');
  try {
    cpSync(MODEL, join(folder, 'model.onnx'));
    writeFileSync(join(folder, 'pipeline.yaml'), PIPELINE);
    const { exitCode, stderr } = runTanren(folder, 'build');
    if (exitCode !== 0) throw new Error(`the model is not there: ${stderr}`);
    await withPage(folder, ['ui', '--port', '0'], measureGraph);
  } finally {
    remove();
  }
}

async function measureGraph(served: ServedPage): Promise<void> {
  const opened = await served.open();
  const { page } = opened;
  const rows: (readonly string[])[] = [['', 'value', 'aim', '']];
  const overviewMs = await timeUntilDrawn(opened, () =>
    page.goto(`http://127.0.0.1:${served.server.port}/model?stage=whole#token=${served.server.token}`),
  );
  const boxes = await countBoxes(opened);
  rows.push(
    aimRow('boxes of the overview', boxes, AIM_BOXES, ''),
    aimRow('overview, with the load of the page', overviewMs, AIM_OVERVIEW_MS, 'ms'),
  );
  rows.push(...(await pan(served, opened, `${boxes} boxes`)));
  const allMs = await timeUntilDrawn(opened, () => page.getByRole('button', { name: 'Open all' }).click(), boxes);
  const all = await countBoxes(opened);
  rows.push(['boxes of all', String(all)], aimRow('all of it', allMs, AIM_ALL_MS, 'ms'));
  rows.push(...(await pan(served, opened, `${all} boxes`)));
  await page.getByRole('button', { name: 'Fit' }).click();
  await page.waitForTimeout(500);
  rows.push(...(await pan(served, opened, `${all} boxes, all in sight`)));
  printTable('The graph of 2,243 nodes in the view "Model"', rows);
}

async function countBoxes({ page }: OpenedPage): Promise<number> {
  const label = await page.locator('.canvas').getAttribute('aria-label');
  return Number(/\d+/.exec(label ?? '')?.[0] ?? Number.NaN);
}

/** @param before the number of boxes that were drawn before. */
async function timeUntilDrawn(opened: OpenedPage, act: () => Promise<unknown>, before = 0): Promise<number> {
  const start = performance.now();
  await act();
  await waitUntil(
    opened,
    `document.querySelector('.canvas .box') !== null && !document.querySelector('.canvas').ariaLabel.startsWith('Graph of ${before} boxes')`,
  );
  return performance.now() - start;
}

/** By small steps, and by steps that bring other boxes into sight every few frames. */
async function pan({ browser }: ServedPage, { page }: OpenedPage, what: string): Promise<readonly (readonly string[])[]> {
  const rows: (readonly string[])[] = [];
  for (const [name, step] of [
    ['slow', 3],
    ['fast', 40],
  ] as const) {
    const { frames } = await traceMainThread(browser, page, async () => {
      const place = await page.locator('.canvas').boundingBox();
      const [x, y] = [(place?.x ?? 0) + (place?.width ?? 0) / 2, (place?.y ?? 0) + (place?.height ?? 0) / 2];
      await page.mouse.move(x, y);
      for (let i = 0; i < MOVES; i++) {
        await page.mouse.wheel(0, i < MOVES / 2 ? step : -step);
        await page.waitForTimeout(12);
      }
    });
    rows.push(aimRow(`panning ${name}, ${what}: work per frame, p95 of ${frames.length}`, quantileOf(frames, 0.95), AIM_FRAME_MS, 'ms'));
    rows.push(['  median, most', `${quantileOf(frames, 0.5).toFixed(1)}, ${Math.max(...frames).toFixed(1)} ms`]);
  }
  return rows;
}
