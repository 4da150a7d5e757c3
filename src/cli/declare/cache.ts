/** Commands that manage the cache. */
import { parseDuration, parseSize } from '../../engine/config/scalars.js';
import { command, type Declared, group } from './command.js';
import { flag, optional, repeated } from './option.js';
import { cache, file, json, PIPELINE, REMOTE } from './shared-options.js';
import { parseText, parseWith } from './values.js';

const ON_CACHE = {
  json,
  file,
  cache: optional('--cache <folder>', 'shared cache to use instead of cache/ of the project (default: TANREN_CACHE)', parseText),
};

const ON_REMOTE = { ...PIPELINE, json, cache, remoteCache: REMOTE.remoteCache };

export const CACHE: Declared = group('cache', 'show, check, shrink, export and import the cache', [
  command({
    words: 'stats',
    description: 'show what the cache holds, by plugin',
    options: ON_CACHE,
    run: async (_words, options) => (await import('../commands/cache/cache.js')).runCacheStats(options),
  }),
  command({
    words: 'gc',
    description: 'remove blobs of no result, and the least recently used results beyond the limits',
    options: {
      ...ON_CACHE,
      maxSize: optional(
        '--max-size <size>',
        'remove least recently used results until the cache is at most this large, for example 2GB',
        parseWith(parseSize, 'a size, for example 500MB or 2GB'),
      ),
      maxAge: optional(
        '--max-age <time>',
        'remove results that no build has used for longer than this, for example 30d',
        parseWith(parseDuration, 'a time, for example 12h or 30d'),
      ),
      dryRun: flag('-n, --dry-run', 'print what would be removed; remove nothing'),
    },
    run: async (_words, options) => (await import('../commands/cache/cache.js')).runCacheGc(options),
  }),
  command({
    words: 'verify',
    description: 'read every byte, and remove what is damaged',
    options: ON_CACHE,
    run: async (_words, options) => (await import('../commands/cache/cache.js')).runCacheVerify(options),
  }),
  command({
    words: 'export <archive> [targets...]',
    description: "write the results of the targets' last build to one file for `cache import`; - is stdout",
    options: {
      ...PIPELINE,
      json,
      cache,
      all: flag('--all', 'export everything in the cache'),
      parts: flag('--no-parts', 'leave out the parts that the stages used (calibration sketches, detections per image, …)'),
      since: repeated('--since <archive>', 'leave out what this archive holds', parseText),
    },
    after: 'Examples:\n  tanren cache export warm.tanren\n  tanren cache export - --all | zstd > warm.tanren.zst',
    run: async ([archive = '', ...targets], options) =>
      (await import('../commands/cache/cache-archive.js')).runCacheExport(archive, targets, options),
  }),
  group('remote', 'examine a remote cache, and move results to and from it', [
    command({
      words: 'ping',
      description: 'ask the remote cache what it is',
      options: ON_REMOTE,
      run: async (_words, options) => (await import('../commands/cache/cache-remote.js')).runRemotePing(options),
    }),
    command({
      words: 'runtime <folder>',
      description: 'write what remote workers need to a new folder, for an image of theirs, and print its digest',
      options: { json },
      run: async ([folder = ''], options) => (await import('../commands/cache/write-runtime.js')).runWriteRuntime(folder, options),
    }),
    command({
      words: 'push [targets...]',
      description: "send the results of the targets' last build",
      options: ON_REMOTE,
      run: async (targets, options) => (await import('../commands/cache/cache-remote.js')).runRemoteMove('push', targets, options),
    }),
    command({
      words: 'pull [targets...]',
      description: 'fetch the results that a build of the targets would need now, and parts of their stages',
      options: { ...ON_REMOTE, parts: flag('--no-parts', 'leave out parts of stages (calibration sketches, detections per image, …)') },
      run: async (targets, options) => (await import('../commands/cache/cache-remote.js')).runRemoteMove('pull', targets, options),
    }),
  ]),
  command({
    words: 'import <archives...>',
    description: 'add the results in archives to the cache, each checked by its digest; - is stdin',
    options: ON_CACHE,
    after: 'Import only from sources whom you trust to run your builds: a digest proves the\nbytes, not who made them.',
    run: async (archives, options) => (await import('../commands/cache/cache-archive.js')).runCacheImport(archives, options),
  }),
]);
