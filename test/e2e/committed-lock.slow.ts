/** Does a lock that stands in this repository lock what stands beside it? It tells whoever changes a plugin to build once more, and commit the lock. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DIST } from '../support/world.js';

const PROJECT = dirname(DIST);
const pipelines = ['pipeline.yaml', ...readdirSync(join(PROJECT, 'pipelines')).map(name => `pipelines/${name}`)];
const locked = pipelines.filter(name => name.endsWith('.yaml') && existsSync(join(PROJECT, name.replace(/\.yaml$/, '.lock'))));

(locked.length > 0 ? describe : describe.skip)('the locks of this repository', () => {
  it.each(locked.length > 0 ? locked : ['none'])('%s is what its lock says', name => {
    const tanren = join(DIST, 'bin/tanren.js');
    const { status, stderr } = spawnSync(process.execPath, [tanren, 'build', '--frozen', '--dry-run', '-f', name], {
      cwd: PROJECT,
      encoding: 'utf8',
    });

    expect([status, stderr]).toEqual([0, '']);
  });
});
