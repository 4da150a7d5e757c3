/** Titles of compiled models, which name the report where there are several. */
import type { Named } from '../entries.js';
import type { CompiledModel, CompileView } from '../readers/read-compile.js';

export function titleModels(reports: readonly Named<CompileView>[]): readonly { readonly title: string; readonly model: CompiledModel }[] {
  return reports.flatMap(({ name, value }) =>
    value.models.map(model => ({ title: reports.length > 1 ? `${name}: ${model.name}` : model.name, model })),
  );
}
