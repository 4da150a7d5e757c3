/** The root causes that make a stage differ from its last result, and their descriptions. */
import { assertNever } from '../../../base/assert-never.js';
import type { Change } from '../../action/changes.js';
import { describeChange } from '../../action/changes.js';
import type { Failure } from '../../model/failure.js';
import { ONLY_CACHED } from '../status/only-cached.js';
import { type CodeChanges, describeCodeChanges } from './code-changes.js';
import { describeTreeChanges, type TreeChanges } from './tree-changes.js';

export type Cause =
  | { readonly kind: 'never-built' }
  /** No build of this checkout accepted a result, and the cache has one for these inputs: an imported archive, or a shared cache. */
  | { readonly kind: 'only-cached' }
  /** The action record of the last result is missing from the cache. */
  | { readonly kind: 'record-lost' }
  | { readonly kind: 'forced' }
  /** The files under artifacts/ differ from what was published. */
  | { readonly kind: 'outputs'; readonly what: string | undefined }
  /** `files`: changes in a folder, if its earlier content is still known. */
  | { readonly kind: 'source'; readonly path: string; readonly files: TreeChanges | undefined }
  /** `changes`: changes of the code, if the earlier code is still known. */
  | { readonly kind: 'code'; readonly plugin: string; readonly changes: CodeChanges | undefined }
  /** A parameter, a tool, a variable, an input connected to another output … */
  | { readonly kind: 'change'; readonly change: Change }
  /** The stage that makes an input has a new result, and the cause of the change is unknown. */
  | { readonly kind: 'rebuilt' }
  | { readonly kind: 'impossible'; readonly failure: Failure };

export function describeCause(cause: Cause): string {
  switch (cause.kind) {
    case 'never-built':
      return 'never built';
    case 'only-cached':
      return ONLY_CACHED;
    case 'record-lost':
      return 'the record of its last run is missing from the cache';
    case 'forced':
      return 'forced';
    case 'outputs':
      return cause.what === undefined ? 'its published outputs were changed' : `its published outputs were changed: ${cause.what}`;
    case 'source':
      return withDetail(`source ${cause.path} changed`, cause.files === undefined ? '' : describeTreeChanges(cause.files));
    case 'code':
      return withDetail(`the code of ${cause.plugin} changed`, cause.changes === undefined ? '' : describeCodeChanges(cause.changes));
    case 'change':
      return describeChange(cause.change);
    case 'rebuilt':
      return 'built again since, from unknown inputs';
    case 'impossible':
      return `cannot run: ${cause.failure.message}`;
    default:
      return assertNever(cause);
  }
}

function withDetail(text: string, detail: string): string {
  return detail === '' ? text : `${text}: ${detail}`;
}
