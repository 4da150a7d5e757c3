/** `tanren cache export | import`: moves results from one checkout to another in one file. `-` is stdout or stdin. */
import { formatBytes } from '../../../base/text/format.js';
import { type ExportChoice, type ExportReport, exportCache, importArchive } from '../../../engine/store/archive/archive.js';
import { type ArchiveBytes, archiveAt } from '../../../engine/store/archive/archive-bytes.js';
import type { TakenArchive } from '../../../engine/store/archive/take-archive.js';
import { type CacheChoice, cacheOf, cachesOf, interruptible } from '../../pipeline/open-cache.js';
import { openPlan, type PipelineOptions } from '../../pipeline/open-plan.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { type Console, makeConsole } from '../../terminal/console.js';
import { endWithError } from '../../terminal/end-with-error.js';

export interface ExportOptions extends PipelineOptions {
  readonly all: boolean;
  readonly parts: boolean;
  readonly since: readonly string[];
  readonly json: boolean;
}

export async function runCacheExport(path: string, targets: readonly string[], options: ExportOptions): Promise<ExitCode> {
  const toStdout = path === '-';
  const console = makeConsole({ json: options.json || toStdout });
  if (options.all && targets.length > 0) return endUsage(console, 'targets and --all cannot be combined', 'name targets or use --all');
  if (options.json && toStdout) return endUsage(console, 'stdout cannot hold both the archive and the JSON document', 'name a file');
  const choice = await choose(targets, options, console);
  if (choice === undefined) return EXIT.usage;
  const target = toStdout ? ({ kind: 'stream', stream: process.stdout } as const) : ({ kind: 'file', path } as const);
  try {
    const report = await interruptible(console, ({ signal }) =>
      exportCache(cachesOf(options), { choice, since: options.since }, target, signal),
    );
    if (report === undefined) return EXIT.interrupted;
    if (options.json) console.json(report);
    else printExport(path, report, console);
    return report.incomplete.length === 0 ? EXIT.built : EXIT.failed;
  } catch (error) {
    return endWithError(error, console, options, EXIT.failed);
  }
}

async function choose(targets: readonly string[], options: ExportOptions, console: Console): Promise<ExportChoice | undefined> {
  if (options.all) return { kind: 'everything' };
  const opened = await openPlan(options, targets, console);
  return opened === undefined
    ? undefined
    : { kind: 'accepted', plan: opened.plan, targets: opened.targets, parts: options.parts ? 'with parts' : 'without parts' };
}

function printExport(path: string, { records, blobs, sizeBytes, incomplete, unbuilt }: ExportReport, console: Console): void {
  for (const key of incomplete) console.line(`result ${key} is incomplete in the cache and was not exported; tanren build makes it again`);
  if (unbuilt.length > 0) console.line(`not exported, because never built: ${unbuilt.join(', ')}`);
  console.line(`${path === '-' ? 'exported' : `wrote ${path}:`} ${records} results, ${blobs} blobs, ${formatBytes(sizeBytes)}`);
}

export interface ImportOptions extends CacheChoice {
  readonly json: boolean;
}

export async function runCacheImport(paths: readonly string[], options: ImportOptions): Promise<ExitCode> {
  const console = makeConsole({ json: options.json });
  const cache = cacheOf(options);
  const taken: (TakenArchive & { readonly archive: string })[] = [];
  try {
    for (const path of paths) {
      const one = await interruptible(console, ports => importArchive(cache, path === '-' ? standardInput() : archiveAt(path), ports));
      if (one === undefined) return EXIT.interrupted;
      taken.push({ archive: path, ...one });
      if (!options.json) printImport(path, one, console);
    }
  } catch (error) {
    return endWithError(error, console, options, EXIT.failed);
  }
  if (options.json) console.json({ archives: taken });
  return taken.every(({ damaged, incomplete }) => damaged.length + incomplete.length === 0) ? EXIT.built : EXIT.failed;
}

function printImport(
  path: string,
  { records, blobs, sizeBytes, known, different, damaged, incomplete }: TakenArchive,
  console: Console,
): void {
  for (const name of damaged)
    console.problem('error', `error[archive-damaged]: ${path}: the content of ${name} does not match its digest: not imported`);
  for (const key of incomplete)
    console.problem(
      'error',
      `error[archive-incomplete]: ${path}: result ${key} needs blobs that are neither in the archive nor in the cache: not imported`,
    );
  for (const key of different)
    console.line(`result ${key} has different bytes in the cache: both are kept, and the one in the cache is used`);
  console.line(`imported ${path}: ${records} results, ${blobs} blobs, ${formatBytes(sizeBytes)}; ${known} were already in the cache`);
}

function standardInput(): ArchiveBytes {
  return { name: 'stdin', chunks: process.stdin as AsyncIterable<Buffer> };
}

function endUsage(console: Console, message: string, help: string): ExitCode {
  console.problem('error', `error[invalid-argument]: ${message}\n  help: ${help}`);
  return EXIT.usage;
}
