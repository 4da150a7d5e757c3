/** The runtime of remote workers: Node, Tanren's workers, and the packages with native libraries, without anything that no worker loads. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { slashed } from '../../engine/action/code/describe-code.js';
import type { RuntimeFile, RuntimeUse } from '../../engine/model/ports.js';

const MODELS = ['onnxruntime-node', 'onnxruntime-common'];

/** Decoding of images. */
const IMAGES = ['sharp', '@img/colour', 'detect-libc', 'semver'];

/** Programs, data of programs and libraries; no types, maps, sources or documentation. */
const LOADED = /\.(js|cjs|mjs|json|node|dll|dylib)$|\.so(\.\d+)*$/;
const NOT_LOADED = /(^|\/)(src|script|scripts|install|test|esm|node_modules|\.bin)\/|\.d\.ts$|providers_(cuda|tensorrt|rocm)/;

/** The program that a remote worker starts. */
const MAIN = 'exec-action.cjs';

/** The worker for plugins that are modules. */
const ANY_PLUGIN = 'any-plugin.cjs';

/** The least files that the use needs: some servers copy all of them for every action. */
export function listRuntimeFiles(installRoot: string, use: RuntimeUse): readonly RuntimeFile[] {
  const files: RuntimeFile[] = [{ path: 'bin/node', from: process.execPath, executable: true }];
  const add = (path: string, from: string): void => void files.push({ path: slashed(path), from, executable: false });
  const workers = join(installRoot, 'workers');
  const { bundles, libraries } = needsOf(workers, use);
  for (const name of bundles) add(`dist/workers/${name}`, join(workers, name));
  add('dist/package.json', join(workers, 'package.json'));
  if (libraries.models) for (const name of MODELS) addPackage(name, installRoot, add);
  if (libraries.images) for (const name of [...IMAGES, ...nativeImagePackages(installRoot)]) addPackage(name, installRoot, add);
  if (use.kind === 'worker' || use.kind === 'whole')
    for (const path of listFolder(join(installRoot, 'src/target/bundle/board'), /\.py$/))
      add(join('dist/src/target/bundle/board', path), join(installRoot, 'src/target/bundle/board', path));
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

interface Needs {
  /** Names of files in `workers/`. */
  readonly bundles: readonly string[];
  readonly libraries: { readonly models: boolean; readonly images: boolean };
}

function needsOf(workers: string, use: RuntimeUse): Needs {
  if (use.kind === 'programs') return { bundles: [MAIN], libraries: { models: false, images: false } };
  // The class of the machine is computed with ONNX Runtime, also for a plugin of a project that runs models.
  if (use.kind === 'modules') return { bundles: [MAIN, ANY_PLUGIN], libraries: { models: true, images: false } };
  if (use.kind === 'whole')
    return { bundles: readdirSync(workers).filter(name => name.endsWith('.cjs')), libraries: { models: true, images: true } };
  const own = withThreads(workers, relative(workers, use.main));
  const codes = own.map(name => readFileSync(join(workers, name), 'utf8'));
  const models = codes.some(code => code.includes('onnxruntime-node'));
  return { bundles: [MAIN, ...own], libraries: { models, images: codes.some(code => code.includes('load-sharp.js')) } };
}

/** A bundle and those of the threads that it starts. */
function withThreads(workers: string, bundle: string): readonly string[] {
  const text = readFileSync(join(workers, bundle), 'utf8');
  return [bundle, ...new Set([...text.matchAll(/"workers\/([\w-]+-thread\.cjs)"/g)].map(([, name = '']) => name))];
}

/** The packages with the library for this system. */
function nativeImagePackages(installRoot: string): readonly string[] {
  const folder = dirname(findPackage('@img/colour', installRoot));
  const own = new RegExp(`^sharp-(libvips-)?(${process.platform}|linuxmusl)-${process.arch}$`);
  return readdirSync(folder).flatMap(name => (own.test(name) ? [`@img/${name}`] : []));
}

function addPackage(name: string, installRoot: string, add: (path: string, from: string) => void): void {
  const folder = findPackage(name, installRoot);
  for (const path of listFolder(folder, LOADED)) {
    if (NOT_LOADED.test(path) || isForOthers(path)) continue;
    add(join('node_modules', name, path), join(folder, path));
  }
}

/** Whether a file of a package with libraries for all systems is for another system than this one: "bin/napi-v6/linux/x64/…". */
function isForOthers(path: string): boolean {
  const [, platform, arch] = /^bin\/[^/]+\/([^/]+)\/([^/]+)\//.exec(slashed(path)) ?? [];
  return platform !== undefined && (platform !== process.platform || arch !== process.arch);
}

function findPackage(name: string, installRoot: string): string {
  for (let folder = installRoot; ; folder = dirname(folder)) {
    const found = join(folder, 'node_modules', name);
    if (existsSync(join(found, 'package.json'))) return found;
    if (folder === dirname(folder)) break;
  }
  return dirname(createRequire(join(installRoot, 'package.json')).resolve(`${name}/package.json`));
}

/** Files below the folder that match, relative to it. */
function listFolder(folder: string, wanted: RegExp): readonly string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.flatMap(entry =>
    entry.isFile() && wanted.test(entry.name) ? [relative(folder, join(entry.parentPath, entry.name))] : [],
  );
}
