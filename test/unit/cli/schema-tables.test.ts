/** The tables of params in docs/ are those that the plugins' schemas give. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { BUILT_IN_PLUGINS } from '../../../stages/registry.js';
import { DIST } from '../../support/world.js';

const ROOT = dirname(DIST);

interface Schema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
}

/** Paths of the params without a description, those of items and of named members included. */
function listUndescribed({ properties, items, additionalProperties }: Schema, path: string): readonly string[] {
  const inner = items ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined);
  return [
    ...Object.entries(properties ?? {}).flatMap(([name, param]) => [
      ...(param.description === undefined ? [`${path}.${name}`] : []),
      ...listUndescribed(param, `${path}.${name}`),
    ]),
    ...(inner === undefined ? [] : listUndescribed(inner, path)),
  ];
}

describe('the tables of params in docs/', () => {
  it('describe every param', () => {
    expect(BUILT_IN_PLUGINS.flatMap(({ plugin }) => listUndescribed(plugin.params, plugin.name))).toEqual([]);
  });

  it.each(BUILT_IN_PLUGINS.map(({ plugin }) => plugin.name))('include that of %s', name => {
    expect(readFileSync(join(ROOT, `docs/stages/${name}.md`), 'utf8')).toContain(
      `<!-- params ${name} -->\n\n| param | values | default | |\n`,
    );
  });

  it('equal those of the schemas; otherwise run scripts/schema-tables.mjs after a build', () => {
    const { stdout, stderr, status } = spawnSync(process.execPath, [join(ROOT, 'scripts/schema-tables.mjs'), '--check'], {
      encoding: 'utf8',
    });
    expect({ stdout, stderr, status }).toEqual({ stdout: '', stderr: '', status: 0 });
  });
});
