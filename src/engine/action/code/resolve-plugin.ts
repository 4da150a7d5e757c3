/** Resolution of the specifier that a pipeline file gives for a plugin: a path, or the name of a package. */
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

/** Returns the absolute path of the plugin's module. A path is relative to the project folder. @throws Error if a package is not installed. */
export function resolvePlugin(specifier: string, projectFolder: string): string {
  return isPath(specifier) ? resolve(projectFolder, specifier) : createRequire(join(projectFolder, 'package.json')).resolve(specifier);
}

export function isPath(specifier: string): boolean {
  return /^\.{0,2}[/\\]|^[A-Za-z]:[/\\]/.test(specifier);
}
