/**
 * Draws docs/images/report.png from a page that `tanren build` wrote: `node scripts/report-picture.mjs [page.html]`.
 * It needs Chromium (TANREN_CHROMIUM sets another path).
 * The left half shows the top of the page in light colors, the right half shows parts of its sections in dark colors.
 */
import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import sharp from 'sharp';

const [WIDTH, HEIGHT] = [1120, 1320];
const page = pathToFileURL(resolve(process.argv[2] ?? 'artifacts/report/page.html')).href;
const browser = await chromium.launch({
  executablePath: process.env.TANREN_CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
});

async function shoot(colorScheme, style) {
  const context = await browser.newContext({ viewport: { width: WIDTH, height: HEIGHT }, colorScheme });
  const tab = await context.newPage();
  await tab.goto(page);
  await tab.addStyleTag({ content: style });
  const picture = await tab.screenshot();
  await context.close();
  return picture;
}

const top = await shoot('light', 'nav button{display:none}');
// The most informative item of each section: one image, one chart, one tensor and one model.
const pieces = await shoot(
  'dark',
  `header,nav,main>:not(section),section:not(#detections,#error,#ranges,#partition),section>p,section>details,
  .sample~.sample,.sample details,#error h3~h3,#error .figure~.figure,.tensors details~details,#partition>*~.figure~.figure,#partition .scroll,#partition h3~h3{display:none!important}
  section{border:0;margin:0;padding:.6rem 0 0}main{padding-top:.6rem}h3{margin-top:.4rem}.sample{margin:0}.figure{margin:.4rem 0}`,
);
await browser.close();

await mkdir('docs/images', { recursive: true });
const { size } = await sharp({ create: { width: 2 * WIDTH, height: HEIGHT, channels: 3, background: '#131618' } })
  .composite([
    { input: top, left: 0, top: 0 },
    { input: pieces, left: WIDTH, top: 0 },
  ])
  .png({ palette: true, colours: 200, effort: 10, dither: 0.6 })
  .toFile('docs/images/report.png');
console.log(`docs/images/report.png: ${Math.round(size / 1000)} kB`);
