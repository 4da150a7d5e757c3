/** Which instances does a stage of the file have? One, or one per item of `foreach` or combination of `matrix`, each with what its names stand for. */

import type { Scope } from '../config/interpolate.js';
import { interpolate } from '../config/interpolate.js';
import { findMember, type Located, membersOf } from '../config/located.js';
import type { DiagnosticSink } from '../model/diagnostic.js';
import type { StageId } from '../model/plan.js';
import type { SourceSpan } from '../model/source-span.js';

export interface Instance {
  readonly id: StageId;
  readonly group: string;
  /** What stands behind the "@"; undefined for the only instance of a stage. */
  readonly item: string | undefined;
  readonly definition: Located;
  readonly scope: Scope;
  readonly span: SourceSpan;
}

const ITEM = /^[\w.-]+$/;

/** @param scope what holds for the whole file: the parameters. */
export function expandStage(
  group: string,
  definition: Located,
  span: SourceSpan,
  scope: Scope,
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
  if (rows === undefined) return [{ id: group as StageId, group, item: undefined, definition, scope, span }];
  const seen = new Set<string>();
  return rows.flatMap(({ item, names, span: itemSpan }) => {
    if (!ITEM.test(item)) {
      diagnostics.error('bad-name', itemSpan, `"${item}" cannot name an instance of "${group}"`, 'letters, digits, "_", "-" and "." can');
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

function foreachRows(foreach: Located, scope: Scope, diagnostics: DiagnosticSink): readonly Row[] {
  const items = interpolate(foreach, scope, diagnostics);
  if (items.kind === 'scalar') {
    diagnostics.error('bad-stage', foreach.span, 'foreach takes a list or a map');
    return [];
  }
  if (items.kind === 'map') {
    return [...membersOf(items)].map(([key, member]) => ({
      item: key,
      names: new Map<string, Located>([
        ['key', { kind: 'scalar', value: key, span: member.keySpan }],
        ['item', member.value],
      ]),
      span: member.keySpan,
    }));
  }
  return items.items.map(item => ({
    item: textOf(item),
    names: new Map<string, Located>([
      ['key', { kind: 'scalar', value: textOf(item), span: item.span }],
      ['item', item],
    ]),
    span: item.span,
  }));
}

function matrixRows(matrix: Located, scope: Scope, diagnostics: DiagnosticSink): readonly Row[] {
  const lists = interpolate(matrix, scope, diagnostics);
  let rows: readonly (readonly (readonly [string, Located])[])[] = [[]];
  for (const [name, member] of membersOf(lists)) {
    const values = member.value.kind === 'list' ? member.value.items : [member.value];
    rows = rows.flatMap(row => values.map(value => [...row, [name, value] as const]));
  }
  return rows.map(row => ({
    item: row.map(([, value]) => textOf(value)).join('-'),
    names: new Map<string, Located>([
      ['matrix', { kind: 'map', members: new Map(row.map(([name, value]) => [name, { keySpan: value.span, value }])), span: matrix.span }],
    ]),
    span: matrix.span,
  }));
}

function textOf(value: Located): string {
  return value.kind === 'scalar' ? String(value.value) : '';
}

function extend(scope: Scope, names: ReadonlyMap<string, Located>): Scope {
  return { names: [...names.keys(), ...scope.names], find: name => names.get(name) ?? scope.find(name) };
}
