/** Renders a component of the page in Node, as the report does. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { DIST } from './world.js';

const projectFolder = dirname(DIST);

/** @param module below src/web/page. @returns a function that gives the markup for some properties. */
export async function loadComponent(module: string, name: string): Promise<(props: object) => string> {
  const { outputFiles } = await build({
    absWorkingDir: projectFolder,
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    stdin: {
      resolveDir: projectFolder,
      loader: 'tsx',
      contents: `import { renderToString } from 'preact-render-to-string';
import { ${name} as Shown } from './src/web/page/${module}';
export const render = props => renderToString(<Shown {...props} />);`,
    },
  });
  const folder = mkdtempSync(join(tmpdir(), 'tanren-component-'));
  const file = join(folder, 'component.mjs');
  writeFileSync(file, outputFiles[0]?.contents ?? '');
  try {
    return ((await import(pathToFileURL(file).href)) as { render: (props: object) => string }).render;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
