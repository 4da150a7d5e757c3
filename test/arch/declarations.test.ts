/** Every plugin is registered, and planning stays light: declarations load no package, and little of our own code. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { init, parse } from 'es-module-lexer';
import { BUILT_IN_PLUGINS } from '../../stages/registry.js';

const dist = resolve(dirname(fileURLToPath(import.meta.url)), '../..');

/** What loading `entry` loads: compiled modules relative to dist/, and packages. Dynamic imports are not followed. */
async function loadedBy(entry: string): Promise<{ modules: string[]; packages: string[] }> {
  await init;
  const modules = new Set<string>();
  const packages = new Set<string>();
  const visit = (file: string): void => {
    if (modules.has(file)) return;
    modules.add(file);
    for (const found of parse(readFileSync(file, 'utf8'))[0]) {
      if (found.type === 'dynamic' || found.type === 'import-meta') continue;
      if (found.specifier.startsWith('.')) visit(resolve(dirname(file), found.specifier));
      else packages.add(found.specifier);
    }
  };
  visit(join(dist, entry));
  return { modules: [...modules].map(file => relative(dist, file)), packages: [...packages] };
}

describe('the plugins', () => {
  it('are all registered, each under the module that declares it', () => {
    const declared = readdirSync(join(dist, 'stages'), { withFileTypes: true })
      .filter(entry => entry.isDirectory() && existsSync(join(dist, 'stages', entry.name, 'stage.js')))
      .map(entry => `stages/${entry.name}/stage.js`);
    expect(BUILT_IN_PLUGINS.map(({ module }) => module).sort()).toEqual(declared.sort());
    for (const { plugin, module } of BUILT_IN_PLUGINS) expect(module).toBe(`stages/${plugin.name}/stage.js`);
  });

  it('are declared without loading what their runs need', async () => {
    const { modules, packages } = await loadedBy('stages/registry.js');
    expect(packages.filter(name => !name.startsWith('node:'))).toEqual([]);
    expect(modules.filter(file => file.endsWith('run.js'))).toEqual([]);
    expect(modules).toContain('stages/command/places.js');
    expect(modules.length).toBeLessThanOrEqual(5 * BUILT_IN_PLUGINS.length);
  });
});
