/** Which commands look after what cache/ holds? */
import type { Command } from 'commander';
import { parseDuration, parseSize } from '../../engine/config/scalars.js';
import { asJson, type Declare, parseWith } from './options.js';

export const declareCache: Declare = (program, end) => {
  const cache = program.command('cache').description('look at what cache/ holds, check it, make it smaller');
  const onCache = (name: string): Command =>
    asJson(cache.command(name)).option('-f, --file <path>', 'pipeline file of the project', 'pipeline.yaml');

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
};
