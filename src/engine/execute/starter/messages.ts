/** The messages between a build and its starter processes: plain data over IPC. */
import type { OutputStream, Program } from '../../../stage/tool-runner.js';

/** `id` identifies a program, or a removal of folders, within a build. */
export type ToStarter =
  | { readonly kind: 'start'; readonly id: number; readonly program: Program }
  | { readonly kind: 'stop'; readonly id: number }
  /** Removes the folders of runs that have ended. 'later': small folders may stay until there are many, or until 'now'. */
  | { readonly kind: 'remove'; readonly id: number; readonly folders: readonly string[]; readonly small: 'later' | 'now' };

export type FromStarter =
  /** Sent once, when the process is running. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'started'; readonly id: number; readonly pid: number }
  | { readonly kind: 'output'; readonly id: number; readonly stream: OutputStream; readonly text: string }
  | { readonly kind: 'ended'; readonly id: number; readonly exitCode: number | undefined; readonly signal: string | undefined }
  | { readonly kind: 'removed'; readonly id: number }
  /** The program could not be started; `code` is the system's error code. */
  | { readonly kind: 'failed'; readonly id: number; readonly code: string | undefined; readonly message: string };
