/** A pipeline file in a temporary folder, planned against a few small plugins: what tests of the configuration need. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { formatDiagnostic } from '../../src/engine/model/diagnostic.js';
import type { PluginEntry, PluginRegistry } from '../../src/engine/model/plugin-entry.js';
import { type LoadedPipeline, loadPipeline } from '../../src/engine/planning/load-pipeline.js';
import type { SettingOverride } from '../../src/engine/planning/override-settings.js';
import { defineStage, type StagePlugin } from '../../src/stage/define-stage.js';
import { port, recordPort } from '../../src/stage/ports.js';

const make = defineStage({
  name: 'make',
  version: 1,
  description: 'Makes a model.',
  params: {
    type: 'object',
    additionalProperties: false,
    properties: {
      size: { type: 'integer', minimum: 1, default: 3 },
      mode: { type: 'string', enum: ['fast', 'exact'], default: 'fast' },
      list: { type: 'array', items: { type: 'integer' } },
    },
  },
  inputs: { from: port('file', '', { optional: true }) },
  outputs: { model: port('onnx-model'), report: port('report') },
  determinism: 'exact',
  runsModels: 'never',
  checkParams: ({ size }) => (size === 13 ? ['size is 13'] : []),
  run: async () => undefined,
});

const judge = defineStage({
  name: 'judge',
  version: 1,
  description: 'Judges models.',
  params: { type: 'object', additionalProperties: false, properties: { parts: { type: 'array', items: { type: 'string' }, default: [] } } },
  inputs: ({ parts }) => ({
    model: port('onnx-model'),
    data: recordPort({ annotations: 'annotations', images: 'images' }, '', { optional: true }),
    ...Object.fromEntries(parts.map(name => [name, port('any')])),
  }),
  outputs: { metrics: port('metrics'), model: port('onnx-model') },
  determinism: 'exact',
  runsModels: 'never',
  run: async () => undefined,
});

const strict = defineStage({
  name: 'strict',
  version: 1,
  description: 'Has a setting without a default, and ports that not every value has.',
  params: { type: 'object', additionalProperties: false, required: ['level'], properties: { level: { type: 'integer' } } },
  inputs: ({ level }) => {
    if (level > 10) throw new Error('no such level');
    // As a third party's JavaScript may have it.
    return level === 10 ? { x: { ...port('any'), kind: 'blueprint' as never } } : {};
  },
  outputs: { model: port('onnx-model') },
  determinism: 'exact',
  runsModels: 'never',
  run: async () => undefined,
});

const entries = new Map(
  ([make, judge, strict] as StagePlugin[]).map((plugin): [string, PluginEntry] => [
    plugin.name,
    { name: plugin.name, plugin, modulePath: `/plugins/${plugin.name}.js`, origin: 'built-in' },
  ]),
);

export const smallRegistry: PluginRegistry = { names: [...entries.keys()], failed: new Set(), find: name => entries.get(name) };

export interface PipelineCase {
  readonly params?: readonly string[];
  /** Further files of the folder; a name in `paramsFiles` is read as one. */
  readonly files?: Readonly<Record<string, string>>;
  readonly paramsFiles?: readonly string[];
  readonly settings?: readonly SettingOverride[];
  readonly file?: string;
  /** Instead of the small plugins. */
  readonly builtIn?: PluginRegistry;
}

/** Plans `text` as pipeline.yaml (or `file`). */
export async function planText(
  text: string,
  { params = [], files = {}, paramsFiles = [], settings = [], file = 'pipeline.yaml', builtIn = smallRegistry }: PipelineCase = {},
): Promise<LoadedPipeline> {
  const cwd = mkdtempSync(join(tmpdir(), 'tanren-config-'));
  try {
    for (const [name, content] of Object.entries({ ...files, [file]: text })) {
      mkdirSync(dirname(join(cwd, name)), { recursive: true });
      writeFileSync(join(cwd, name), content);
    }
    return await loadPipeline({
      file,
      cwd,
      assignments: params,
      paramsFiles,
      settings,
      builtIn,
      loadPlugin: async (name, specifier) => {
        throw new Error(`no ${specifier} for ${name}`);
      },
    });
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}

/** "3:9 error[unknown-plugin]: stage …" per diagnostic: its first line without the file name. */
export function headsOf(loaded: LoadedPipeline): string[] {
  return loaded.diagnostics.map(item =>
    (formatDiagnostic(item, new Map()).split('\n')[0] ?? '').replace(/^[\w./-]+\.yaml:(\d+:\d+): /, '$1 '),
  );
}
