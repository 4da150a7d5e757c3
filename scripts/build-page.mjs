/** Builds the page of `tanren ui` into dist/page: checks its types, and bundles it with Vite. Does nothing if its sources are those of the last build. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Folders whose modules or types the page imports. */
const SOURCES = [
  'src/web',
  'src/report',
  'src/base',
  'src/engine',
  'src/detection',
  'src/onnx/describe',
  'src/quant',
  'src/target/report',
  'src/target/advice',
  'src/runtime/measure',
  'src/runtime/device',
];

export async function buildPage(root) {
  const stamp = join(root, 'dist/page/sources.sha256');
  const digest = digestSources(root);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) return;
  const page = join(root, 'src/web/page');
  const checked = spawnSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', page], { cwd: root, stdio: 'inherit' });
  if (checked.status !== 0) process.exit(checked.status ?? 1);
  const { build } = await import('vite');
  await build({
    root: page,
    configFile: false,
    logLevel: 'warn',
    plugins: [await colors(root)],
    esbuild: { jsx: 'automatic', jsxImportSource: 'preact', legalComments: 'none' },
    build: {
      outDir: join(root, 'dist/page'),
      emptyOutDir: true,
      target: 'es2022',
      // The page's policy allows no inline scripts and no data addresses.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
    },
    worker: { format: 'es' },
  });
  writeFileSync(stamp, digest);
}

/** The colors of the report page, at the head of the style sheet. */
async function colors(root) {
  const { declareColors } = await import(pathToFileURL(join(root, 'dist/src/report/colors.js')).href);
  return {
    name: 'colors',
    enforce: 'pre',
    transform: (code, id) => (id.endsWith('/app/page.css') ? `${declareColors()}\n${code}` : undefined),
  };
}

function digestSources(root) {
  const hash = createHash('sha256').update(process.version);
  for (const file of ['package-lock.json', 'scripts/build-page.mjs', 'tsconfig.json']) hash.update(readFileSync(join(root, file)));
  for (const folder of SOURCES) {
    for (const name of readdirSync(join(root, folder), { recursive: true }).sort()) {
      if (!/\.(tsx?|css|html|svg|json)$/.test(name)) continue;
      hash.update(`${folder}/${name}\0`).update(readFileSync(join(root, folder, name)));
    }
  }
  return hash.digest('hex');
}
