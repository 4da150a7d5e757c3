/** The world of engine tests: a project folder of its own, plugins from fixtures, and builds by the engine itself. */
import { appendFileSync, cpSync, existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BuildOptions } from '../../src/engine/build.js';
import { build } from '../../src/engine/build.js';
import type { BuildEvent } from '../../src/engine/model/events.js';
import type { Plan } from '../../src/engine/model/plan.js';
import type { EnginePorts } from '../../src/engine/model/ports.js';
import type { BuildReport } from '../../src/engine/model/report.js';
import type { StageSpec } from './plan-of.js';
import { planOf } from './plan-of.js';

export const DIST = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const FIXTURES = join(dirname(DIST), 'test/fixtures/plugins');

export interface World {
  readonly folder: string;
  /** The plugins' folder, a copy that the test may edit. */
  readonly plugins: string;
  stages: Readonly<Record<string, StageSpec>>;
  platformClass: string;
  environment: Record<string, string | undefined>;
  plan(): Promise<Plan>;
  ports(extra?: Partial<EnginePorts>): EnginePorts;
  build(options?: Partial<BuildOptions>, extra?: Partial<EnginePorts>): Promise<Built>;
  path(name: string): string;
  write(name: string, text: string): void;
  append(name: string, text: string): void;
  read(name: string): string;
  remove(): void;
}

export interface Built {
  readonly report: BuildReport;
  readonly events: readonly BuildEvent[];
  /** Kind of each stage's outcome. */
  readonly outcomes: Readonly<Record<string, string>>;
  readonly warnings: readonly string[];
}

/** A new project with these stages and source files. */
export function givenWorld(stages: Readonly<Record<string, StageSpec>>, sources: Readonly<Record<string, string>> = {}): World {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tanren-world-')));
  const plugins = join(folder, 'plugins');
  cpSync(FIXTURES, plugins, { recursive: true });
  const world: World = {
    folder,
    plugins,
    stages,
    platformClass: 'class-1',
    environment: { ...process.env },
    plan: () => planOf(folder, plugins, world.stages),
    ports: extra => ({
      installRoot: DIST,
      environment: world.environment,
      platformClass: { guard: () => world.platformClass, compute: async () => world.platformClass },
      emit: () => undefined,
      nowMs: Date.now,
      signal: new AbortController().signal,
      ...extra,
    }),
    async build(options = {}, extra = {}) {
      const events: BuildEvent[] = [];
      const emit = (event: BuildEvent): void => {
        events.push(event);
        extra.emit?.(event);
      };
      const settings: BuildOptions = { targets: 'all', failures: 'stop', force: 'never', ...options };
      const report = await build(await world.plan(), settings, world.ports({ ...extra, emit }));
      const outcomes = Object.fromEntries([...report.stages].map(([id, { outcome }]) => [id, outcome.kind]));
      return { report, events, outcomes, warnings: events.flatMap(event => (event.kind === 'warning' ? [event.code] : [])) };
    },
    path: name => join(folder, name),
    write: (name, text) => writeFileSync(join(folder, name), text),
    append: (name, text) => appendFileSync(join(folder, name), text),
    read: name => readFileSync(join(folder, name), 'utf8'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
  for (const [name, text] of Object.entries(sources)) world.write(name, text);
  return world;
}

/** Builds until nothing is looked at closely any more: stamps of files that are just written prove nothing for some ticks. @returns the last build. */
export async function untilSettled(world: World, build: () => Promise<Built>): Promise<Built> {
  for (;;) {
    rmSync(world.path('cache/lock'), { recursive: true, force: true });
    const built = await build();
    if (!existsSync(world.path('cache/lock'))) return built;
  }
}
