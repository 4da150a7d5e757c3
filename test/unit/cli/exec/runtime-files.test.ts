/** The runtime of a remote worker has what its action needs, and nothing else: a server may copy all of it for every action. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { listRuntimeFiles } from '../../../../src/cli/exec/runtime-files.js';
import type { RuntimeUse } from '../../../../src/engine/model/ports.js';
import { BUILT_IN_PLUGINS } from '../../../../stages/registry.js';
import { DIST } from '../../../support/world.js';

const pathsOf = (use: RuntimeUse): readonly string[] => listRuntimeFiles(DIST, use).map(({ path }) => path);
const mainOf = (plugin: string): string => join(DIST, 'workers', `${plugin}.cjs`);

describe('the runtime', () => {
  it('of stages that only start programs has Node and the program that runs actions', () => {
    expect(pathsOf({ kind: 'programs' })).toEqual(['bin/node', 'dist/package.json', 'dist/workers/exec-action.cjs']);
  });

  it('of stages that only start programs runs one, with no other file of this installation', () => {
    const root = mkdtempSync(join(tmpdir(), 'tanren-runtime-'));
    try {
      for (const { path, from, executable } of listRuntimeFiles(DIST, { kind: 'programs' })) {
        if (executable) continue;
        mkdirSync(dirname(join(root, 'runtime', path)), { recursive: true });
        copyFileSync(from, join(root, 'runtime', path));
      }
      const params = { run: ['echo forged > out'], shell: 'sh', inputs: {}, outputs: { out: 'out' } };
      const action = {
        format: 1,
        plugin: 'command',
        key: 'k',
        params,
        inputs: {},
        outputs: { out: 'outputs/out' },
        env: [],
        secrets: [],
        local: [],
      };
      const execution = {
        format: 1,
        system: `${process.platform}-${process.arch}`,
        program: { kind: 'in-process', plugin: 'command' },
        tools: {},
        env: {},
      };
      writeFileSync(join(root, 'action.json'), JSON.stringify(action));
      writeFileSync(join(root, 'execution.json'), JSON.stringify(execution));

      const { status, stdout, stderr } = spawnSync(process.execPath, ['runtime/dist/workers/exec-action.cjs'], {
        cwd: root,
        encoding: 'utf8',
      });

      expect([status, stdout, stderr]).toEqual([0, expect.stringContaining('done'), '']);
      expect(readFileSync(join(root, 'outputs/out'), 'utf8')).toBe('forged\n');
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  });

  it.each(
    BUILT_IN_PLUGINS.filter(({ plugin }) => plugin.isolation !== 'in-process').map(({ plugin }) => [plugin.name, plugin] as const),
  )('of %s has its worker and no other one, and ONNX Runtime if it runs models', (name, { runsModels }) => {
    const paths = pathsOf({ kind: 'worker', main: mainOf(name) });
    const bundles = paths.filter(path => path.startsWith('dist/workers/') && !path.endsWith('-thread.cjs'));
    expect(bundles).toEqual(['dist/workers/exec-action.cjs', `dist/workers/${name}.cjs`].sort());
    expect(paths.some(path => /\/libonnxruntime\.|\/onnxruntime\.dll$/.test(path))).toBe(
      runsModels !== 'never' || usesThreadsWithModels(paths),
    );
  });

  it.each([
    ['bench', 'session-thread'],
    ['report', 'sides-thread'],
    ['round-weights', 'settle-thread'],
    ['verify', 'values-thread'],
  ])('of %s has the thread %s', (plugin, thread) => {
    expect(pathsOf({ kind: 'worker', main: mainOf(plugin) })).toContain(`dist/workers/${thread}.cjs`);
  });

  it('of an image has every file that any stage needs', () => {
    const whole = new Set(pathsOf({ kind: 'whole' }));
    const uses: RuntimeUse[] = [
      { kind: 'programs' },
      { kind: 'modules' },
      ...BUILT_IN_PLUGINS.filter(({ plugin }) => plugin.isolation !== 'in-process').map(({ plugin }) => ({
        kind: 'worker' as const,
        main: mainOf(plugin.name),
      })),
    ];
    expect(uses.flatMap(use => pathsOf(use)).filter(path => !whole.has(path))).toEqual([]);
  });
});

function usesThreadsWithModels(paths: readonly string[]): boolean {
  const threads = paths.filter(path => path.endsWith('-thread.cjs'));
  return threads.some(path => readFileSync(join(DIST, path.slice('dist/'.length)), 'utf8').includes('onnxruntime-node'));
}
