/** The rule for modules that a worker may load, as pure functions for the hooks of both module loaders. */
import { sep } from 'node:path';
import { anyList, anyText, object, oneOf } from '../../../base/schema/build-schema.js';
import type { FromSchema } from '../../../base/schema/from-schema.js';

/** The modules that a worker of a third-party plugin may load besides Tanren and Node. All paths are absolute, without links. */
export const LOAD_RULE = object({
  paths: anyList(anyText(), 'Modules that the code digest covers.'),
  packages: anyList(anyText(), 'Folders of the installed packages that they import.'),
  imports: oneOf(['named', 'computed'], 'computed: some module may import files that no literal in it names.'),
});

export type LoadRule = FromSchema<typeof LOAD_RULE>;

/** A module that was refused. */
export interface RefusedModule {
  readonly path: string;
  /** The module that imports it, if known. */
  readonly importer: string | undefined;
}

export type ModuleCheck = (path: string, importer: string | undefined) => RefusedModule | undefined;

/** @param installRoot folder of Tanren's own modules, which may load anything. */
export function makeModuleCheck({ paths, packages }: LoadRule, installRoot: string): ModuleCheck {
  const known = new Set(paths);
  const isOwn = (path: string): boolean => path.startsWith(installRoot + sep);
  return (path, importer) => {
    if (known.has(path) || (importer !== undefined && isOwn(importer))) return undefined;
    // Imports between installed packages are pinned by their versions.
    if (isInstalled(path) && (importer === undefined || (isInstalled(importer) && !known.has(importer)))) return undefined;
    if (packages.some(folder => path.startsWith(folder + sep))) return undefined;
    return { path, importer };
  };
}

function isInstalled(path: string): boolean {
  return path.split(sep).includes('node_modules');
}
