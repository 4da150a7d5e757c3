/** Rejection of sources that the build itself writes. No stage order would be right for them, and no build would ever be up to date. */
import { type Located, membersOf } from '../config/located.js';
import type { DiagnosticSink } from '../model/diagnostic.js';
import type { Source } from './connect.js';
import { createWrittenCheck, type WrittenPlaces } from './written-places.js';

export function checkSources(
  declared: Located | undefined,
  sources: ReadonlyMap<string, Source>,
  places: WrittenPlaces,
  diagnostics: DiagnosticSink,
): void {
  const members = membersOf(declared);
  const findWhy = createWrittenCheck(places);
  for (const [name, source] of sources) {
    const paths = source.kind === 'path' ? [source.path] : [...source.paths.values()];
    for (const path of paths) {
      const why = findWhy(path);
      if (why !== undefined)
        diagnostics.error('source-is-written', members.get(name)?.value.span, `source "${name}" ${why.what}`, why.help);
    }
  }
}
