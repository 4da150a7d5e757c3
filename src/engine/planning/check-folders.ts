/** Checks that the stages of a plan have distinct artifact folders on every file system. */
import { foldName } from '../../stage/fold-name.js';
import type { DiagnosticList } from '../model/diagnostic.js';
import type { StageId } from '../model/plan.js';
import type { Instance } from './expand.js';

/** Maximum length of a name. File systems allow 255 bytes, and extensions and temporary names are appended. */
export const MAX_NAME = 200;
const NAME_RULE = `it becomes that of a folder and may have at most ${MAX_NAME}`;

/** The name of a stage is the name of its folder under artifacts/, and many file systems ignore case. Names that differ only in case collide there. */
export function checkFolders(instances: readonly Instance[], diagnostics: DiagnosticList): void {
  const seen = new Map<string, StageId>();
  for (const { id, span } of instances) {
    if (id.length > MAX_NAME)
      diagnostics.error('bad-name', span, `the name of stage "${id.slice(0, 40)}…" has ${id.length} characters; ${NAME_RULE}`);
    const other = seen.get(foldName(id));
    seen.set(foldName(id), id);
    if (other === undefined || other === id) continue;
    const help = 'on many file systems their artifacts would be in one folder: rename one of them';
    diagnostics.error('names-meet', span, `the stages "${other}" and "${id}" differ by case alone`, help);
  }
}
