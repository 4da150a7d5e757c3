/** How is dist/ made? tsc checks and emits every module; esbuild joins what the CLI needs to start into one file per lazily loaded command. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

function run(script, args) {
  const result = spawnSync(process.execPath, [join(root, script), ...args], { cwd: root, stdio: 'inherit' });
  if (result.status !== 0) process.exit(result.status ?? 1);
}

run('node_modules/typescript/bin/tsc', ['-p', 'tsconfig.json']);
copyAssets('src');
await writeCodeTable(join(root, 'dist'));

if (existsSync(join(root, 'dist/src/cli/tanren.js'))) {
  rmSync(join(root, 'dist/bin'), { recursive: true, force: true });
  const { build } = await import('esbuild');
  await build({
    absWorkingDir: root,
    entryPoints: { tanren: 'dist/src/cli/tanren.js' },
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
    plugins: [oneChunkForStart(join(root, 'dist/src/cli/tanren.js'), join(root, 'dist/src/cli/start.js'))],
    logLevel: 'warning',
  });
}

/** What modules read from beside themselves. */
function copyAssets(folder) {
  for (const file of readdirSync(join(root, folder), { recursive: true })) {
    if (file.endsWith('.py')) cpSync(join(root, folder, file), join(root, 'dist', folder, file));
  }
}

/**
 * What every start needs becomes one file: esbuild joins modules that the same entries reach, so each lazily loaded module is made to reach `start`.
 * It is there already when one of them is loaded.
 */
function oneChunkForStart(entry, start) {
  return {
    name: 'one-chunk-for-start',
    setup(builder) {
      const lazy = new Set([entry]);
      builder.onResolve({ filter: /^\.\.?\// }, ({ kind, path, resolveDir }) => {
        if (kind === 'dynamic-import') lazy.add(join(resolveDir, path));
        return undefined;
      });
      builder.onLoad({ filter: /\.js$/ }, ({ path }) => {
        if (!lazy.has(path)) return undefined;
        return { contents: `${readFileSync(path, 'utf8')}\nimport ${JSON.stringify(start)};\n`, resolveDir: dirname(path), loader: 'js' };
      });
    },
  };
}

/** The digest of what each module reaches by import: the code digests of built-in plugins and parts, so that a build need not read modules. */
async function writeCodeTable(dist) {
  const { createModuleGraph } = await import('../dist/src/engine/action/module-graph.js');
  const { CODE_TABLE, encodeCodeTable } = await import('../dist/src/engine/action/code-digest.js');
  const modules = ['src', 'stages'].flatMap(folder => {
    const files = existsSync(join(dist, folder)) ? readdirSync(join(dist, folder), { recursive: true }) : [];
    return files.filter(file => file.endsWith('.js')).map(file => join(dist, folder, file));
  });
  const emitted = modules.filter(file => existsSync(join(root, file.slice(dist.length + 1).replace(/\.js$/, '.ts'))));
  writeFileSync(join(dist, CODE_TABLE), encodeCodeTable(await createModuleGraph(), emitted, dist));
}
