/** Rejection of sources that the build itself writes. No stage order would be right for them, and no build would ever be up to date. */
import { type Located, membersOf } from '../config/located.js';
import { refsOf } from '../model/dependencies.js';
import type { DiagnosticSink } from '../model/diagnostic.js';
import type { PlannedStage } from '../model/plan.js';
import type { Source } from './connect.js';
import type { Written } from './written-places.js';

export interface SourcesToCheck {
  readonly declared: Located | undefined;
  readonly sources: ReadonlyMap<string, Source>;
  readonly stages: Iterable<Pick<PlannedStage, 'inputs'>>;
  /** Sources of which a stage reads only the files that another input names. */
  readonly narrowed: ReadonlySet<string>;
  readonly findWritten: (path: string) => Written | undefined;
}

/** A folder that holds places of the build is a valid source if stages read only those files of it that another input names. */
export function checkSources({ declared, sources, stages, narrowed, findWritten }: SourcesToCheck, diagnostics: DiagnosticSink): void {
  const members = membersOf(declared);
  const whole = listConnected(stages);
  for (const [name, source] of sources) {
    for (const [label, path] of source.kind === 'path' ? [[name, source.path] as const] : labelEntries(name, source.paths)) {
      const why = findWritten(path);
      if (why === undefined || (why.kind === 'holds' && narrowed.has(label) && !whole.has(label))) continue;
      diagnostics.error('source-is-written', members.get(name)?.value.span, `source "${name}" ${why.what}`, why.help);
    }
  }
}

function labelEntries(name: string, paths: ReadonlyMap<string, string>): readonly (readonly [string, string])[] {
  return [...paths].map(([key, path]) => [`${name}.${key}`, path]);
}

/** The names of the sources that stages read as a whole. */
function listConnected(stages: SourcesToCheck['stages']): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { inputs } of stages) for (const ref of Object.values(inputs).flatMap(refsOf)) if (ref.kind === 'source') names.add(ref.name);
  return names;
}
