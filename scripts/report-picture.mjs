/**
 * Draws docs/images/report.png from a page that `tanren build` wrote: `node scripts/report-picture.mjs [page.html]`.
 * It needs Chromium (TANREN_CHROMIUM sets another path).
 * The left half shows the view Report in light colors, the right half the view Results in dark colors.
 */
import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import sharp from 'sharp';

const [WIDTH, HEIGHT] = [1120, 1180];
const page = pathToFileURL(resolve(process.argv[2] ?? 'artifacts/report/page.html')).href;
const browser = await chromium.launch({
  executablePath: process.env.TANREN_CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
});

/** @param contents selectors: the picture is taken when they are there. */
async function shoot(colorScheme, view, contents) {
  const context = await browser.newContext({ viewport: { width: WIDTH, height: HEIGHT }, colorScheme });
  const tab = await context.newPage();
  await tab.goto(`${page}${view}`);
  await tab.locator('#document').waitFor({ state: 'detached' });
  for (const content of contents) await tab.locator(content).first().waitFor();
  const picture = await tab.screenshot();
  await context.close();
  return picture;
}

const left = await shoot('light', '', ['#latency']);
const right = await shoot('dark', '#/results', ['.two path.mask', '.two image']);
await browser.close();

await mkdir('docs/images', { recursive: true });
const { size } = await sharp({ create: { width: 2 * WIDTH, height: HEIGHT, channels: 3, background: '#131618' } })
  .composite([
    { input: left, left: 0, top: 0 },
    { input: right, left: WIDTH, top: 0 },
  ])
  .png({ palette: true, colours: 200, effort: 10, dither: 0.6 })
  .toFile('docs/images/report.png');
console.log(`docs/images/report.png: ${Math.round(size / 1000)} kB`);
