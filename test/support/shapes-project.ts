/** The project's pipelines in a folder of its own, small enough for a test: few images, and the CLI as it ships. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const DIST = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
export const PROJECT = dirname(DIST);

const PIPELINES = [
  'pipeline.yaml',
  'pipelines/import.yaml',
  'pipelines/maskrcnn-tiles.yaml',
  'pipelines/maskscoring-shapes.yaml',
  'pipelines/yolact-shapes.yaml',
];

export interface StageResult {
  readonly stage: string;
  readonly outcome: { readonly kind: string; readonly failure?: { readonly code: string; readonly message: string } };
  readonly metrics?: Record<string, Record<string, Record<string, number>>>;
  readonly artifacts: Readonly<Record<string, string>>;
}

export interface CliBuild {
  readonly exitCode: number | null;
  /** Ids of the stages that ended so, in the plan's order. */
  readonly executed: readonly string[];
  readonly restored: readonly string[];
  readonly failed: readonly string[];
  readonly stages: ReadonlyMap<string, StageResult>;
  /** What people see. */
  readonly text: string;
}

export interface ShapesProject {
  readonly folder: string;
  path(name: string): string;
  edit(name: string, change: (text: string) => string): void;
  build(...args: readonly string[]): CliBuild;
  /** Runs all further commands with these words before them, and these variables. */
  place(before: readonly string[], environment: Readonly<Record<string, string>>): void;
  tanren(...args: readonly string[]): { readonly exitCode: number | null; readonly stdout: string; readonly stderr: string };
  remove(): void;
}

/** @param images how many images `evaluate` takes; 'all' keeps the pipeline as it is. With fewer its gates go, as their bounds are those of all images. `dist`: the installation that builds. */
export function givenShapesProject(images: number | 'all', dist: string = DIST): ShapesProject {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tanren-shapes-')));
  cpSync(join(PROJECT, 'examples'), join(folder, 'examples'), { recursive: true });
  mkdirSync(join(folder, 'pipelines'));
  for (const file of PIPELINES) {
    const text = readFileSync(join(PROJECT, file), 'utf8');
    writeFileSync(join(folder, file), images === 'all' ? text : shorten(text, images));
  }
  let [before, environment]: [readonly string[], Readonly<Record<string, string>>] = [[], {}];
  const tanren: ShapesProject['tanren'] = (...args) => {
    const [program = '', ...words] = [...before, process.execPath, join(dist, 'bin/tanren.js'), ...args];
    const result = spawnSync(program, words, {
      cwd: folder,
      env: { ...process.env, ...environment },
      encoding: 'utf8',
      maxBuffer: 1 << 28,
      timeout: 900_000,
    });
    return { exitCode: result.status, stdout: result.stdout, stderr: result.stderr };
  };
  return {
    folder,
    path: name => join(folder, name),
    edit: (name, change) => writeFileSync(join(folder, name), change(readFileSync(join(folder, name), 'utf8'))),
    build(...args) {
      const { exitCode, stdout, stderr } = tanren('build', '--json', ...args);
      const report = (stdout.trim() === '' ? { stages: [] } : JSON.parse(stdout)) as { readonly stages: readonly StageResult[] };
      const ended = (kind: string): readonly string[] =>
        report.stages.filter(stage => stage.outcome.kind === kind).map(stage => stage.stage);
      const stages = new Map(report.stages.map(stage => [stage.stage, stage]));
      return { exitCode, executed: ended('executed'), restored: ended('restored'), failed: ended('failed'), stages, text: stderr };
    },
    tanren,
    place(words, variables) {
      [before, environment] = [words, variables];
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function shorten(pipeline: string, images: number): string {
  return pipeline
    .replaceAll(/^ {4}gate: .*\n/gm, '')
    .replaceAll(/^ {4}uses: evaluate$/gm, `    uses: evaluate\n    with: {samples: ${images}}`)
    .replace('calibrationSamples: {type: integer, default: 16', 'calibrationSamples: {type: integer, default: 2')
    .replace('with: {warmup: 1, repeats: 5, batches: [1]}', 'with: {warmup: 0, repeats: 1, batches: [1]}')
    .replace('minSqnrDb: 18, maxMissed: 0.35, maxExtra: 0.35', 'minSqnrDb: -50')
    .replace('verifySamples: {type: integer, default: 4', 'verifySamples: {type: integer, default: 1');
}
