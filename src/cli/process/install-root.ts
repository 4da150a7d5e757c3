/** Finds the dist/ folder of the installation, both from a compiled module and from the bundle in dist/bin. */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Works from dist/bin/<chunk>.js and from dist/src/cli/process/install-root.js. */
export function findInstallRoot(moduleUrl: string = import.meta.url): string {
  const folder = dirname(fileURLToPath(moduleUrl));
  return folder.endsWith(join('src', 'cli', 'process')) ? dirname(dirname(dirname(folder))) : dirname(folder);
}
