/** The runtime of remote workers: Node, Tanren's workers, and the packages with native libraries, without anything that no worker loads. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { slashed } from '../../engine/action/code/describe-code.js';
import type { RuntimeFile } from '../../engine/model/ports.js';

const ALWAYS = ['onnxruntime-node', 'onnxruntime-common'];

/** Decoding of images. */
const IMAGES = ['sharp', '@img/colour', 'detect-libc', 'semver'];

/** Programs, data of programs and libraries; no types, maps, sources or documentation. */
const LOADED = /\.(js|cjs|mjs|json|node|dll|dylib)$|\.so(\.\d+)*$/;
const NOT_LOADED = /(^|\/)(src|script|scripts|install|test|esm|node_modules|\.bin)\/|\.d\.ts$|providers_(cuda|tensorrt|rocm)/;

/** @param worker the worker's main module, or WHOLE_RUNTIME; those that decode images get the libraries for it. */
export function listRuntimeFiles(installRoot: string, worker: string | undefined): readonly RuntimeFile[] {
  const files: RuntimeFile[] = [{ path: 'bin/node', from: process.execPath, executable: true }];
  const add = (path: string, from: string): void => void files.push({ path: slashed(path), from, executable: false });
  const workers = join(installRoot, 'workers');
  for (const name of readdirSync(workers)) if (name.endsWith('.cjs')) add(`dist/workers/${name}`, join(workers, name));
  add('dist/package.json', join(workers, 'package.json'));
  for (const path of listFolder(join(installRoot, 'src/target/bundle/board'), /\.py$/))
    add(join('dist/src/target/bundle/board', path), join(installRoot, 'src/target/bundle/board', path));
  const packages = worker !== undefined && decodesImages(worker) ? [...ALWAYS, ...IMAGES, ...nativeImagePackages(installRoot)] : ALWAYS;
  for (const name of packages) addPackage(name, installRoot, add);
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** A bundle, or that of a thread that it starts, has the module that loads the library, or not. */
function decodesImages(worker: string): boolean {
  if (!worker.endsWith('.cjs')) return true;
  const text = readFileSync(worker, 'utf8');
  const threads = [...text.matchAll(/"workers\/([\w-]+-thread\.cjs)"/g)].map(([, name = '']) => join(dirname(worker), name));
  return [text, ...threads.map(thread => readFileSync(thread, 'utf8'))].some(code => code.includes('load-sharp.js'));
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
