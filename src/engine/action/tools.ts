/** Resolution of the programs that stages start: by path, or by name on the PATH. */
import { delimiter, isAbsolute, join } from 'node:path';
import { EngineError } from '../model/engine-error.js';
import { statPath } from '../store/files/stamp.js';
import type { PinnedSource } from '../store/input-digests.js';

/** A program that a stage starts, with its content. */
export interface PinnedTool {
  /** The name that the stage uses. */
  readonly name: string;
  readonly path: string;
  readonly source: PinnedSource;
}

/**
 * Returns the path of a tool. A name with a slash is relative to `projectFolder`.
 * Relative folders of the PATH are ignored, because they mean a different folder in every working directory.
 * @throws EngineError `tool-missing`.
 */
export function resolveTool(tool: string, projectFolder: string, path: string | undefined): string {
  if (isAbsolute(tool)) return existing(tool, tool);
  if (tool.includes('/')) return existing(tool, join(projectFolder, tool));
  const endings = process.platform === 'win32' ? ['.exe', '.cmd', '.bat', ''] : [''];
  for (const folder of (path ?? '').split(delimiter)) {
    for (const ending of endings) {
      // Most folders do not hold it, and `join` takes as long as a look.
      if (isAbsolute(folder) && isProgram(`${folder}/${tool}${ending}`)) return join(folder, tool + ending);
    }
  }
  throw missing(tool, 'it is not on the PATH');
}

function existing(tool: string, path: string): string {
  if (statPath(path)?.kind !== 'file') throw missing(tool, `${path} is not a file`);
  return path;
}

/** Like a shell, treats a PATH folder without read access as one that contains no program. */
function isProgram(path: string): boolean {
  try {
    const stat = statPath(path);
    return stat?.kind === 'file' && (stat.executable || process.platform === 'win32');
  } catch {
    return false;
  }
}

function missing(tool: string, why: string): EngineError {
  return new EngineError('tool-missing', `program "${tool}" is not found: ${why}`, { help: 'install it, or correct its name' });
}
