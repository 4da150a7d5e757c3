/** The tables of params in docs/ are those that the plugins' schemas give. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { BUILT_IN_PLUGINS } from '../../../stages/registry.js';
import { DIST } from '../../support/world.js';

const ROOT = dirname(DIST);

describe('the tables of params in docs/', () => {
  it.each(BUILT_IN_PLUGINS.map(({ plugin }) => plugin.name))('include that of %s', name => {
    expect(readFileSync(join(ROOT, `docs/stages/${name}.md`), 'utf8')).toContain(
      `<!-- params ${name} -->\n\n| param | values | default | |\n`,
    );
  });

  it('equal those of the schemas; otherwise run scripts/params-tables.mjs after a build', () => {
    const { stdout, stderr, status } = spawnSync(process.execPath, [join(ROOT, 'scripts/params-tables.mjs'), '--check'], {
      encoding: 'utf8',
    });
    expect({ stdout, stderr, status }).toEqual({ stdout: '', stderr: '', status: 0 });
  });
});
