/** Declares the commands that manage the cache. */
import type { Command } from 'commander';
import { parseDuration, parseSize } from '../../engine/config/scalars.js';
import { asJson, collect, type Declare, onPipeline, parseWith, withCache } from './options.js';

export const declareCache: Declare = (program, end) => {
  const cache = program.command('cache').description('look at what cache/ holds, check it, make it smaller');
  const onCache = (name: string): Command =>
    asJson(cache.command(name))
      .option('-f, --file <path>', 'pipeline file of the project', 'pipeline.yaml')
      .option('--cache <folder>', 'the cache that checkouts share, not cache/ of the project; else TANREN_CACHE names it');

  onCache('stats')
    .description('what the cache holds, by plugin')
    .action(async (options: Parameters<typeof import('../commands/cache.js').runCacheStats>[0]) =>
      end(await (await import('../commands/cache.js')).runCacheStats(options)),
    );

  onCache('gc')
    .description('remove what belongs to no result, and beyond the limits the results that were used longest ago')
    .option(
      '--max-size <size>',
      'such as 2GB: results go, oldest use first, until the cache is not larger',
      parseWith(parseSize, '500MB or 2GB'),
    )
    .option('--max-age <time>', 'such as 30d: results that no build has used for longer go', parseWith(parseDuration, '12h or 30d'))
    .option('-n, --dry-run', 'say what would go; remove nothing', false)
    .action(async (options: Parameters<typeof import('../commands/cache.js').runCacheGc>[0]) =>
      end(await (await import('../commands/cache.js')).runCacheGc(options)),
    );

  onCache('verify')
    .description('read every byte, and remove what is damaged')
    .action(async (options: Parameters<typeof import('../commands/cache.js').runCacheVerify>[0]) =>
      end(await (await import('../commands/cache.js')).runCacheVerify(options)),
    );

  withCache(asJson(onPipeline(cache.command('export <archive> [targets...]'))))
    .description('write results to one file that `cache import` takes elsewhere: what the last build of the targets holds; - is stdout')
    .option('--all', 'everything in the cache', false)
    .option('--no-parts', 'without the parts that the stages used (calibration sketches, detections per image, …)')
    .option('--since <archive>', 'leave out what is in this archive, repeatable', collect, [])
    .addHelpText('after', '\nExamples:\n  tanren cache export warm.tanren\n  tanren cache export - --all | zstd > warm.tanren.zst')
    .action(
      async (
        archive: string,
        targets: readonly string[],
        options: Parameters<typeof import('../commands/cache-archive.js').runCacheExport>[2],
      ) => end(await (await import('../commands/cache-archive.js')).runCacheExport(archive, targets, options)),
    );

  onCache('import <archives...>')
    .description('take the results in archives into the cache, each checked by its digest; - is stdin')
    .addHelpText('after', '\nImport only from those whom you would let run your builds: a digest proves bytes, not who made them.')
    .action(async (archives: readonly string[], options: Parameters<typeof import('../commands/cache-archive.js').runCacheImport>[1]) =>
      end(await (await import('../commands/cache-archive.js')).runCacheImport(archives, options)),
    );
};
