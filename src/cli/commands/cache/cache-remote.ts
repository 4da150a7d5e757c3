/** `tanren cache remote ping | push | pull`: examines a remote cache, and moves results without a build. */
import { countOf } from '../../../base/text/count-of.js';
import { formatBytes, formatDuration } from '../../../base/text/format.js';
import { listSome } from '../../../base/text/list-some.js';
import type { Plan } from '../../../engine/model/plan.js';
import { type MovedResults, pullResults, pushResults } from '../../../engine/move-results.js';
import type { RemoteUse } from '../../../engine/store/remote/remote-use.js';
import { cachesOf, interruptible } from '../../pipeline/open-cache.js';
import { openPlan, type PipelineOptions } from '../../pipeline/open-plan.js';
import { findRemote, openRemote, untrustedWarning } from '../../pipeline/remote/open-remote.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { type Console, makeConsole } from '../../terminal/console.js';
import { endWithError } from '../../terminal/end-with-error.js';

export interface CacheRemoteOptions extends PipelineOptions {
  readonly remoteCache?: string;
  readonly json: boolean;
}

const EXPLICIT = { remote: true, remoteOnly: false, requireRemote: false } as const;

/** Opens the cache that a build would use. `work` gets it, and returns the exit code. */
async function withRemoteCache(
  options: CacheRemoteOptions,
  console: Console,
  plan: Plan | undefined,
  write: 'yes' | undefined,
  work: (use: RemoteUse) => Promise<ExitCode>,
): Promise<ExitCode> {
  try {
    const { remoteCache } = options;
    const asked = {
      ...EXPLICIT,
      ...(remoteCache === undefined ? {} : { remoteCache }),
      ...(write === undefined ? {} : { remoteWrite: write }),
    };
    const found = findRemote(asked, plan?.remoteCache, console);
    if (found.kind === 'refused') return EXIT.usage;
    if (found.kind === 'untrusted') {
      const { code, message } = untrustedWarning(found.address, found.settings?.path ?? '');
      console.problem('error', `error[${code}]: ${message}`);
      return EXIT.usage;
    }
    if (found.kind === 'none' || found.settings === undefined) {
      console.problem(
        'error',
        'error[remote-settings]: no remote cache is named\n  help: name one with --remote-cache, or in the settings file: docs/remote-cache.md',
      );
      return EXIT.usage;
    }
    const use = await openRemote(found.choice, asked, found.settings);
    return await work(use).finally(() => use.cache.close());
  } catch (error) {
    return endWithError(error, console, options, EXIT.failed);
  }
}

export async function runRemotePing(options: CacheRemoteOptions): Promise<ExitCode> {
  const console = makeConsole({ json: options.json });
  const opened = options.remoteCache === undefined ? await openPlan(options, [], console) : undefined;
  return withRemoteCache(options, console, opened?.plan, undefined, async ({ cache, address, read, write }) => {
    const started = performance.now();
    const { protocol, writable } = await cache.describe();
    const tookMs = performance.now() - started;
    const refuses = write && writable === false;
    if (options.json) console.json({ address, protocol, writable, read, write, tookMs });
    else {
      console.line(`${address}: ${protocol}, answered in ${formatDuration(tookMs)}`);
      console.line(`builds ${read ? 'take results from it' : 'take nothing from it'} and ${write ? 'send theirs' : 'send nothing'}`);
      if (refuses) console.line('the server takes no results: it would refuse what builds send');
    }
    return refuses ? EXIT.failed : EXIT.built;
  });
}

export async function runRemoteMove(
  way: 'push' | 'pull',
  targets: readonly string[],
  options: CacheRemoteOptions & { readonly parts?: boolean },
): Promise<ExitCode> {
  const console = makeConsole({ json: options.json });
  const opened = await openPlan(options, targets, console);
  if (opened === undefined) return EXIT.usage;
  return withRemoteCache(options, console, opened.plan, way === 'push' ? 'yes' : undefined, async use => {
    // Who pulls wants to read, as who pushes wants to write, whatever builds do by the settings.
    const order = { plan: opened.plan, targets: opened.targets, cache: cachesOf(options), use: { ...use, read: true } };
    let stop: AbortSignal | undefined;
    const moved = await interruptible(console, ports => {
      stop = ports.signal;
      return way === 'push' ? pushResults(order, ports) : pullResults(order, ports, options.parts === false ? 'leave' : 'fetch');
    });
    if (moved === undefined) return EXIT.interrupted;
    if (options.json) console.json(moved);
    else printMoved(way, moved, console);
    if (stop?.aborted === true) return EXIT.interrupted;
    return moved.remote.troubles.length === 0 ? EXIT.built : EXIT.failed;
  });
}

function printMoved(way: 'push' | 'pull', { remote, done, without, kept, different, parts }: MovedResults, console: Console): void {
  const bytes = way === 'push' ? `${formatBytes(remote.uploadedBytes)} up` : `${formatBytes(remote.downloadedBytes)} down`;
  console.line(`${countOf(done.length, 'result')} ${way === 'push' ? `in ${remote.address}` : 'in the local cache'} (${bytes})`);
  if (parts > 0) console.line(`${countOf(parts, 'part')} of stages, which make changed stages cheap`);
  if (without.length > 0) console.line(`without a result: ${listSome(without)}`);
  if (kept.length > 0) console.line(`not shared, because they measure, have secrets or use the network: ${listSome(kept)}`);
  if (different.length > 0) console.line(`not shared, because another run gave other bytes: ${listSome(different)}`);
}
