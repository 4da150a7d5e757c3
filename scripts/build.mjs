/** How is dist/ made? tsc checks and emits every module; esbuild joins what the CLI needs to start into one file per lazily loaded command. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

function run(script, args) {
  const result = spawnSync(process.execPath, [join(root, script), ...args], { cwd: root, stdio: 'inherit' });
  if (result.status !== 0) process.exit(result.status ?? 1);
}

run('node_modules/typescript/bin/tsc', ['-p', 'tsconfig.json']);

if (existsSync(join(root, 'dist/src/cli/main.js'))) {
  const { build } = await import('esbuild');
  await build({
    absWorkingDir: root,
    entryPoints: { tanren: 'dist/src/cli/main.js' },
    outdir: 'dist/bin',
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    minify: true,
    legalComments: 'none',
    banner: { js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);" },
    external: ['onnxruntime-node', 'sharp', 'chokidar'],
    logLevel: 'warning',
  });
}
