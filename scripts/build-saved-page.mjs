/**
 * Bundles the views of the page for pages in one file. Writes to dist/src/report/saved:
 * page-bundle.js, a script with everything, workers included, and a style sheet; report-bundle.js, which draws the view "Report" in Node.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

export async function buildSavedPage(root) {
  const { build } = await import('esbuild');
  const common = {
    absWorkingDir: root,
    bundle: true,
    write: false,
    minify: true,
    format: 'iife',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    logLevel: 'warning',
  };
  const bundle = async entry => (await build({ ...common, entryPoints: [entry] })).outputFiles[0].text;
  const { outputFiles } = await build({
    ...common,
    outdir: 'dist',
    entryPoints: ['src/web/page/saved/main-saved.tsx'],
    plugins: [workersAsText(bundle)],
  });
  const script = outputFiles.find(({ path }) => path.endsWith('.js')).text;
  const { declareColors } = await import(pathToFileURL(join(root, 'dist/src/report/colors.js')).href);
  const css = await build({ ...common, entryPoints: ['src/web/page/app/page.css'], outdir: 'dist' });
  const style = `${declareColors()}\n${css.outputFiles[0].text}`;
  const text = `export const PAGE_SCRIPT = ${JSON.stringify(forHtml(script))};\nexport const PAGE_STYLE = ${JSON.stringify(style)};\n`;
  const folder = join(root, 'dist/src/report/saved');
  mkdirSync(folder, { recursive: true });
  writeIfOther(join(folder, 'page-bundle.js'), text);
  const report = { ...common, format: 'esm', platform: 'node', target: 'node20', entryPoints: ['src/web/page/report/static-report.tsx'] };
  writeIfOther(join(folder, 'report-bundle.js'), (await build(report)).outputFiles[0].text);
}

function writeIfOther(at, text) {
  let before = '';
  try {
    before = readFileSync(at, 'utf8');
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
  if (before !== text) writeFileSync(at, text);
}

/** A script element ends at the first "</script", wherever it is. */
function forHtml(script) {
  return script.replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');
}

/** The page imports the address of a worker. Here that is the worker's code, which `startWorker` makes a blob of. */
function workersAsText(bundle) {
  return {
    name: 'workers-as-text',
    setup(builder) {
      builder.onResolve({ filter: /\?worker&url$/ }, ({ path, resolveDir }) => ({
        path: join(resolveDir, path.replace('?worker&url', '')),
        namespace: 'worker',
      }));
      builder.onLoad({ filter: /.*/, namespace: 'worker' }, async ({ path }) => ({ contents: await bundle(path), loader: 'text' }));
    },
  };
}
