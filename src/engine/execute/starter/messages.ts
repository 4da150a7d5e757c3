/** The messages between a build and its starter processes: plain data over IPC. */
import type { OutputStream, Program } from '../../../stage/tool-runner.js';

/** `id` names a program, or a folder to be removed, within a build. */
export type ToStarter =
  | { readonly kind: 'start'; readonly id: number; readonly program: Program }
  | { readonly kind: 'stop'; readonly id: number }
  /** Removes the folders of runs that have ended. 'later': small ones may stay until there are many, or until 'now'. */
  | { readonly kind: 'remove'; readonly id: number; readonly folders: readonly string[]; readonly small: 'later' | 'now' };

export type FromStarter =
  /** Once, when the process is up. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'started'; readonly id: number; readonly pid: number }
  | { readonly kind: 'output'; readonly id: number; readonly stream: OutputStream; readonly text: string }
  | { readonly kind: 'ended'; readonly id: number; readonly exitCode: number | undefined; readonly signal: string | undefined }
  | { readonly kind: 'removed'; readonly id: number }
  /** It could not be started; `code` as the system names it. */
  | { readonly kind: 'failed'; readonly id: number; readonly code: string | undefined; readonly message: string };
