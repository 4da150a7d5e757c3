/** `tanren ui`: a page of the project in the browser, on this machine only. */
import type { PipelineOptions } from '../../pipeline/open-plan.js';
import { setBuildProcessFlags } from '../../process/build-process-flags.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { abortOnSignals } from '../../process/interruption.js';
import { makeConsole } from '../../terminal/console.js';
import { servePage } from './serve-page.js';

export interface UiOptions extends PipelineOptions {
  readonly readOnly: boolean;
  readonly newToken: boolean;
  readonly port?: number;
}

/** @param files at most one: the pipeline file, as with -f. */
export async function runUi(files: readonly string[], options: UiOptions): Promise<ExitCode> {
  setBuildProcessFlags();
  const console = makeConsole({ json: false });
  const signal = abortOnSignals();
  const settings = {
    access: options.readOnly ? 'read-only' : 'full',
    token: options.newToken ? 'rotate' : 'keep',
    port: options.port,
  } as const;
  const page = await servePage({ ...options, file: files[0] ?? options.file }, settings, console);
  console.line(console.style('dim', `Ctrl-C ends; from another machine: ssh -L ${page.port}:127.0.0.1:${page.port} HOST`));
  await new Promise<void>(resolve => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  await page.close();
  return EXIT.interrupted;
}
