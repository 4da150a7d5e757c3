/** Expansion of a stage to its instances: one, or one per item of `foreach` or combination of `matrix`, each with a scope for its names. */
import type { Scope } from '../config/interpolate.js';
import { interpolate } from '../config/interpolate.js';
import { findMember, type Located, membersOf } from '../config/located.js';
import type { DiagnosticSink } from '../model/diagnostic.js';
import type { StageId } from '../model/plan.js';
import type { SourceSpan } from '../model/source-span.js';

export interface Instance {
  readonly id: StageId;
  readonly group: string;
  /** The text after the "@"; undefined for the only instance of a stage. */
  readonly item: string | undefined;
  readonly definition: Located;
  readonly scope: Scope;
  readonly span: SourceSpan;
}

const ITEM = /^[\w.-]+$/;

/** Maximum number of stages of a pipeline, where each instance counts. This many can be planned in one minute and one gigabyte. */
export const MAX_STAGES = 100_000;

/** The rows of `foreach` or `matrix`. Their number is known before any row is made. */
interface Rows {
  readonly count: number;
  readonly make: () => readonly Row[];
}

/**
 * @param scope the names that apply to the whole file: the parameters.
 * @param remaining the number of stages that the pipeline may still add.
 */
export function expandStage(
  group: string,
  definition: Located,
  span: SourceSpan,
  { scope, remaining }: { readonly scope: Scope; readonly remaining: number },
  diagnostics: DiagnosticSink,
): readonly Instance[] {
  const foreach = findMember(definition, 'foreach');
  const matrix = findMember(definition, 'matrix');
  if (foreach !== undefined && matrix !== undefined) {
    diagnostics.error('bad-stage', span, `stage "${group}" has both foreach and matrix`, 'matrix with one list does what foreach does');
    return [];
  }
  const rows =
    foreach !== undefined
      ? foreachRows(foreach, scope, diagnostics)
      : matrix !== undefined
        ? matrixRows(matrix, scope, diagnostics)
        : undefined;
  const count = rows?.count ?? 1;
  if (count > remaining) {
    const shown = count.toLocaleString('en');
    const message = `stage "${group}" would be ${shown} stages; a pipeline has at most ${MAX_STAGES.toLocaleString('en')}`;
    diagnostics.error(
      'too-many-stages',
      (foreach ?? matrix)?.span ?? span,
      message,
      'split the pipeline, or let one stage work on many items',
    );
    return [];
  }
  if (rows === undefined) return [{ id: group as StageId, group, item: undefined, definition, scope, span }];
  const seen = new Set<string>();
  return rows.make().flatMap(({ item, names, span: itemSpan }) => {
    if (!ITEM.test(item)) {
      diagnostics.error('bad-name', itemSpan, `"${item}" cannot name an instance of "${group}"`, 'use letters, digits, "_", "-" and "."');
      return [];
    }
    if (seen.has(item)) {
      diagnostics.error('duplicate-instance', itemSpan, `stage "${group}" has two instances "${item}"`);
      return [];
    }
    seen.add(item);
    return [{ id: `${group}@${item}` as StageId, group, item, definition, scope: extend(scope, names), span }];
  });
}

interface Row {
  readonly item: string;
  readonly names: ReadonlyMap<string, Located>;
  readonly span: SourceSpan;
}

function foreachRows(foreach: Located, scope: Scope, diagnostics: DiagnosticSink): Rows {
  const items = interpolate(foreach, scope, diagnostics);
  if (items.kind === 'scalar') {
    diagnostics.error('bad-stage', foreach.span, 'foreach takes a list or a map');
    return { count: 0, make: () => [] };
  }
  const rows: readonly (readonly [string, SourceSpan, Located])[] =
    items.kind === 'map'
      ? [...membersOf(items)].map(([key, member]) => [key, member.keySpan, member.value])
      : items.items.map(item => [textOf(item), item.span, item]);
  const make = (): readonly Row[] =>
    rows.map(([key, span, item]) => ({
      item: key,
      names: new Map<string, Located>([
        ['key', { kind: 'scalar', value: key, span }],
        ['item', item],
      ]),
      span,
    }));
  return { count: rows.length, make };
}

function matrixRows(matrix: Located, scope: Scope, diagnostics: DiagnosticSink): Rows {
  const lists = [...membersOf(interpolate(matrix, scope, diagnostics))].map(
    ([name, { value }]) => [name, value.kind === 'list' ? value.items : [value]] as const,
  );
  const count = lists.reduce((product, [, values]) => product * values.length, 1);
  return { count, make: () => combine(lists, matrix.span) };
}

function combine(lists: readonly (readonly [string, readonly Located[]])[], span: SourceSpan): readonly Row[] {
  let rows: readonly (readonly (readonly [string, Located])[])[] = [[]];
  for (const [name, values] of lists) rows = rows.flatMap(row => values.map(value => [...row, [name, value] as const]));
  return rows.map(row => ({
    item: row.map(([, value]) => textOf(value)).join('-'),
    names: new Map<string, Located>([
      ['matrix', { kind: 'map', members: new Map(row.map(([name, value]) => [name, { keySpan: value.span, value }])), span }],
    ]),
    span,
  }));
}

function textOf(value: Located): string {
  return value.kind === 'scalar' ? String(value.value) : '';
}

function extend(scope: Scope, names: ReadonlyMap<string, Located>): Scope {
  return {
    get names() {
      return [...names.keys(), ...scope.names];
    },
    find: name => names.get(name) ?? scope.find(name),
    spend: scope.spend,
  };
}
