/** Builds dist/: compiles kernels, then tsc checks and emits every module, then Vite bundles the page of `tanren ui`, and esbuild bundles the workers of built-in plugins, and what the CLI needs to start. */
import { spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildPage } from './build-page.mjs';
import { buildSavedPage } from './build-saved-page.mjs';
import { compileKernels } from './compile-kernels.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** esbuild's options of programs that run in processes and threads of their own. */
const WORKER = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  legalComments: 'none',
  logLevel: 'warning',
  external: ['onnxruntime-node', 'sharp'],
};

/** The modules of threads that workers start. */
const THREADS = [
  'src/runtime/session/session-thread.js',
  'src/quant/recovery/rounding/settle-thread.js',
  'stages/report/sides-thread.js',
  'stages/verify/values-thread.js',
];

function run(script, args) {
  const result = spawnSync(process.execPath, [join(root, script), ...args], { cwd: root, stdio: 'inherit' });
  if (result.status !== 0) process.exit(result.status ?? 1);
}

await compileKernels();
run('node_modules/typescript/bin/tsc', ['-p', 'tsconfig.json']);
removeOrphans(['src', 'stages', 'test', 'bench']);
copyAssets('src');
await buildPage(root);
await buildSavedPage(root);
// The table comes after the bundles of the workers: where it is used, they are complete.
await bundleWorkers(join(root, 'dist'));
await writeCodeTable(join(root, 'dist'));

if (existsSync(join(root, 'dist/src/cli/tanren.js'))) {
  rmSync(join(root, 'dist/bin'), { recursive: true, force: true });
  const { build } = await import('esbuild');
  const options = {
    absWorkingDir: root,
    outdir: 'dist/bin',
    bundle: true,
    platform: 'node',
    target: 'node20',
    minify: true,
    legalComments: 'none',
    logLevel: 'warning',
  };
  // The quick answer is CommonJS, which Node starts without its ES module loader, and loads no unused built-in module.
  await build({
    ...options,
    entryPoints: { tanren: 'dist/src/cli/launch.js' },
    format: 'cjs',
    // For `createRequire`, which takes a path too; making a URL of it takes time at every start.
    define: { 'import.meta.url': '__filename' },
    plugins: [commandLineBeside('./main.mjs'), builtInsAsNeeded()],
  });
  loadBuiltInsPlainly(join(root, 'dist/bin/tanren.js'));
  writeFileSync(join(root, 'dist/bin/package.json'), '{ "type": "commonjs" }\n');
  await build({
    ...options,
    entryPoints: { main: 'dist/src/cli/tanren.js' },
    splitting: true,
    format: 'esm',
    outExtension: { '.js': '.mjs' },
    banner: { js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);" },
    external: ['onnxruntime-node', 'sharp', 'chokidar'],
    plugins: [oneChunkForStart(join(root, 'dist/src/cli/tanren.js'), join(root, 'dist/src/cli/start.js'))],
  });
}

/** Removes compiler output of modules that no longer exist; otherwise tests among them would still run. */
function removeOrphans(folders) {
  for (const folder of folders) {
    const at = join(root, 'dist', folder);
    for (const file of existsSync(at) ? readdirSync(at, { recursive: true }) : []) {
      const name = join(root, folder, file.replace(/(\.d\.ts|\.js)$/, ''));
      // A module with only a declaration is bundled by another script.
      const isLeft = !existsSync(`${name}.ts`) && !existsSync(`${name}.d.ts`);
      if (/\.(d\.ts|js)$/.test(file) && isLeft) rmSync(join(at, file));
    }
  }
}

/** Copies the files that modules read from their own folder. */
function copyAssets(folder) {
  for (const file of readdirSync(join(root, folder), { recursive: true })) {
    if (file.endsWith('.py')) cpSync(join(root, folder, file), join(root, 'dist', folder, file));
  }
}

/** Makes the launcher import the command line from the bundle file at `path`. */
function commandLineBeside(path) {
  return {
    name: 'command-line-beside',
    setup(builder) {
      builder.onResolve({ filter: /\/tanren\.js$/ }, () => ({ path, external: true }));
    },
  };
}

/** Drops imports of built-in modules that are unused after tree shaking. */
function builtInsAsNeeded() {
  return {
    name: 'built-ins-as-needed',
    setup(builder) {
      builder.onResolve({ filter: /^node:/ }, ({ path }) => ({ path, external: true, sideEffects: false }));
    },
  };
}

/** Loads each built-in module once, and without the view of it for ES modules, which `require` makes. Node 20.16 and later can. */
function loadBuiltInsPlainly(file) {
  const names = new Set();
  const text = readFileSync(file, 'utf8').replaceAll(/\brequire\("node:(\w+)"\)/g, (_call, name) => {
    names.add(name);
    return `$${name}`;
  });
  const loads = [...names].map(name => `$${name}=$load("node:${name}")`);
  writeFileSync(file, text.replace('"use strict";', `"use strict";const $load=process.getBuiltinModule??require,${loads.join(',')};`));
}

/**
 * Puts everything that every start needs into one chunk. esbuild merges modules that the same entries reach,
 * so each lazily loaded module is made to import `start`. That chunk is loaded already when a lazy module is loaded.
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

/** Bundles each built-in plugin that runs in a worker with the worker's code. Node starts one CommonJS file in less time than 150 to 300 ES modules. */
async function bundleWorkers(dist) {
  rmSync(join(dist, 'workers'), { recursive: true, force: true });
  if (!existsSync(join(dist, 'stages/registry.js'))) return;
  const { build } = await import('esbuild');
  const { BUILT_IN_PLUGINS } = await import('../dist/stages/registry.js');
  const { bundlePath } = await import('../dist/src/engine/action/code/code-table.js');
  const bundle = (contents, outfile) =>
    build({
      absWorkingDir: root,
      stdin: { contents, resolveDir: dist },
      outfile,
      ...WORKER,
      format: 'cjs',
      banner: { js: "const __urlOf=path=>require('node:url').pathToFileURL(require('node:path').join(__dirname,'..',path)).href;" },
      plugins: [ownUrls(dist)],
    });
  const worker = module => `import * as plugins from './${module}';
    import { findPlugin } from './src/engine/execute/worker/load-plugin.js';
    import { findPart } from './src/engine/execute/worker/parts-document.js';
    import { runWorker } from './src/engine/execute/worker/run-worker.js';
    const parts = { ${partModules(dist, module).map(path => `'${path}': () => import('./${path}')`)} };
    // Remote workers name a module from the root of the installation, part processes by its whole path.
    const inRoot = path => path.replaceAll('\\\\', '/').split('/').slice(-3).join('/');
    export const start = () => runWorker(async (path, name) => findPlugin(plugins, path, name), async (path, name) => findPart((await parts[inRoot(path)]?.()) ?? {}, path, name), 'at-once');
    // A standby worker loads this file, and what a run loads, before it knows its action.
    export const prepare = async () => { ${preparations(dist, module)} };`;
  const anyPlugin = `import { loadPlugin } from './src/engine/execute/worker/load-plugin.js';
    import { runWorker } from './src/engine/execute/worker/run-worker.js';
    runWorker(loadPlugin);`;
  const withWorker = BUILT_IN_PLUGINS.filter(({ plugin }) => plugin.isolation !== 'in-process');
  await Promise.all([
    ...withWorker.map(async ({ module }) => {
      const outfile = bundlePath(dist, join(dist, module));
      await bundle(worker(module), outfile);
      appendFileSync(outfile, 'if (require.main === module) module.exports.start();\n');
    }),
    bundle(anyPlugin, join(dist, 'workers/any-plugin.cjs')),
    bundle("import './src/cli/exec/main.js';", join(dist, 'workers/exec-action.cjs')),
    ...THREADS.map(module => bundle(`import './${module}';`, join(dist, threadBundle(module)))),
  ]);
  // The runtime of remote workers has it in place of the package.json of the installation, so that modules mean the same there.
  writeFileSync(join(dist, 'workers/package.json'), '{ "type": "module" }\n');
}

/** The modules beside a plugin's module that define parts, relative to dist/. */
function partModules(dist, module) {
  const folder = dirname(module);
  const names = readdirSync(join(dist, folder)).filter(name => name.endsWith('.js'));
  return names.filter(name => /\bdefine\w*Part\(/.test(readFileSync(join(dist, folder, name), 'utf8'))).map(name => `${folder}/${name}`);
}

/** Code that loads what a run of the plugin loads; `prepare.js` beside it may do more. */
function preparations(dist, module) {
  const folder = dirname(module);
  const ahead = existsSync(join(dist, folder, 'prepare.js'));
  if (ahead) return `await (await import('./${folder}/prepare.js')).prepare();`;
  return existsSync(join(dist, folder, 'run.js')) ? `await import('./${folder}/run.js');` : '';
}

/** Where a thread's module stands as one file, which bundled workers start instead. */
function threadBundle(module) {
  return `workers/${basename(module, '.js')}.cjs`;
}

/** Keeps `import.meta.url` of a bundled module: it names the code of parts, and places beside the module. Threads start from their bundles. */
function ownUrls(dist) {
  return {
    name: 'own-urls',
    setup(builder) {
      builder.onLoad({ filter: /\.js$/ }, ({ path }) => {
        if (!path.startsWith(dist + sep)) return undefined;
        const urlOf = file => `__urlOf(${JSON.stringify(file)})`;
        const text = THREADS.reduce(
          (code, thread) => code.replaceAll(`new URL('./${basename(thread)}', import.meta.url)`, `new URL(${urlOf(threadBundle(thread))})`),
          readFileSync(path, 'utf8'),
        );
        const own = urlOf(relative(dist, path).split(sep).join('/'));
        return { contents: text.replaceAll('import.meta.url', own), resolveDir: dirname(path), loader: 'js' };
      });
    },
  };
}

/** Writes the digest of the import closure of each module: the code digests of built-in plugins and parts, so that a build need not read modules. */
async function writeCodeTable(dist) {
  const { createModuleGraph } = await import('../dist/src/engine/action/code/module-graph.js');
  const { CODE_TABLE, encodeCodeTable } = await import('../dist/src/engine/action/code/code-table.js');
  const modules = ['src', 'stages'].flatMap(folder => {
    const files = existsSync(join(dist, folder)) ? readdirSync(join(dist, folder), { recursive: true }) : [];
    return files.filter(file => file.endsWith('.js')).map(file => join(dist, folder, file));
  });
  const emitted = modules.filter(file => existsSync(join(root, file.slice(dist.length + 1).replace(/\.js$/, '.ts'))));
  writeFileSync(join(dist, CODE_TABLE), encodeCodeTable(await createModuleGraph(), emitted, dist));
}
