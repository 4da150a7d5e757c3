/** `tanren ui`: a page of the project in the browser, on this machine only. */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { PipelineOptions } from '../../pipeline/open-plan.js';
import { setBuildProcessFlags } from '../../process/build-process-flags.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { abortOnSignals } from '../../process/interruption.js';
import { makeConsole } from '../../terminal/console.js';
import { servePage, serveSavedPage } from './serve-page.js';

export interface UiOptions extends PipelineOptions {
  readonly readOnly: boolean;
  readonly newToken: boolean;
  readonly port?: number;
}

/** @param files at most one: the pipeline file, as with -f; its folder; or a page that `report` wrote, or that page's folder. */
export async function runUi(files: readonly string[], options: UiOptions): Promise<ExitCode> {
  setBuildProcessFlags();
  const console = makeConsole({ json: false });
  const signal = abortOnSignals();
  const settings = {
    access: options.readOnly ? 'read-only' : 'full',
    token: options.newToken ? 'rotate' : 'keep',
    port: options.port,
  } as const;
  const shown = whatToShow(files[0] ?? options.file);
  const page =
    shown.kind === 'saved'
      ? await serveSavedPage(shown.path, options.port, console)
      : await servePage({ ...options, file: shown.path }, settings, console);
  console.line(console.style('dim', `Ctrl-C ends; from another machine: ssh -L ${page.port}:127.0.0.1:${page.port} HOST`));
  await new Promise<void>(resolve => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  await page.close();
  return EXIT.interrupted;
}

/** A folder with the output of `report` is a saved page, and another folder is that of a project. */
function whatToShow(name: string): { readonly kind: 'saved' | 'project'; readonly path: string } {
  if (/\.html?$/i.test(name)) return { kind: 'saved', path: name };
  if (statSync(name, { throwIfNoEntry: false })?.isDirectory() !== true) return { kind: 'project', path: name };
  const page = join(name, 'page.html');
  return existsSync(page) ? { kind: 'saved', path: page } : { kind: 'project', path: join(name, 'pipeline.yaml') };
}
