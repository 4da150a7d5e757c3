/** What can be at the root of a stage not being as its last result was? */
import { assertNever } from '../../../base/assert-never.js';
import type { Change } from '../../action/changes.js';
import { describeChange } from '../../action/changes.js';
import type { Failure } from '../../model/failure.js';
import { type CodeChanges, describeCodeChanges } from './code-changes.js';
import { describeTreeChanges, type TreeChanges } from './tree-changes.js';

export type Cause =
  | { readonly kind: 'never-built' }
  /** The cache has lost what the last result was made of. */
  | { readonly kind: 'record-lost' }
  | { readonly kind: 'forced' }
  /** What stands under artifacts/ is not what was published. */
  | { readonly kind: 'outputs'; readonly what: string | undefined }
  /** `files`: of a folder, where what it held is still known. */
  | { readonly kind: 'source'; readonly path: string; readonly files: TreeChanges | undefined }
  /** `changes`: where the code of before is still known. */
  | { readonly kind: 'code'; readonly plugin: string; readonly changes: CodeChanges | undefined }
  /** A parameter, a tool, a variable, an input that is connected otherwise … */
  | { readonly kind: 'change'; readonly change: Change }
  /** The stage that made an input has another result since, and it is not known from what. */
  | { readonly kind: 'rebuilt' }
  | { readonly kind: 'impossible'; readonly failure: Failure };

export function describeCause(cause: Cause): string {
  switch (cause.kind) {
    case 'never-built':
      return 'never built';
    case 'record-lost':
      return 'the record of its last run is gone from the cache';
    case 'forced':
      return 'forced';
    case 'outputs':
      return cause.what === undefined
        ? 'its outputs are not as they were published'
        : `its outputs are not as they were published: ${cause.what}`;
    case 'source':
      return withDetail(`source ${cause.path} changed`, cause.files === undefined ? '' : describeTreeChanges(cause.files));
    case 'code':
      return withDetail(`the code of ${cause.plugin} changed`, cause.changes === undefined ? '' : describeCodeChanges(cause.changes));
    case 'change':
      return describeChange(cause.change);
    case 'rebuilt':
      return 'built again since, it is not known from what';
    case 'impossible':
      return `cannot run: ${cause.failure.message}`;
    default:
      return assertNever(cause);
  }
}

function withDetail(text: string, detail: string): string {
  return detail === '' ? text : `${text}: ${detail}`;
}
