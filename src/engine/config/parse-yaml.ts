/** How does YAML text become located values? By the `yaml` package, with every mistake as a diagnostic and nothing beyond plain data. */
import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, type Pair, parseDocument } from 'yaml';
import type { DiagnosticSink } from '../model/diagnostic.js';
import type { SourceSpan } from '../model/source-span.js';
import type { Located, Member } from './located.js';

/** Values that aliases may multiply out to, over the whole file: far above any pipeline, far below what would exhaust memory. */
const MAX_VALUES = 100_000;
const MAX_DEPTH = 100;

/** The root value, or undefined for an empty file or one with syntax errors, which are in `diagnostics` then. YAML 1.2 core schema; anchors and merge keys (`<<`) work. */
export function parseYaml(file: string, text: string, diagnostics: DiagnosticSink): Located | undefined {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { version: '1.2', uniqueKeys: true, lineCounter, prettyErrors: false, logLevel: 'silent' });
  const spanOf = (from: number, to: number): SourceSpan => {
    const start = lineCounter.linePos(from);
    const end = lineCounter.linePos(Math.max(from, to));
    return { file, line: start.line, column: start.col, endLine: end.line, endColumn: end.col };
  };
  for (const problem of [...document.errors, ...document.warnings]) {
    diagnostics.error('yaml-syntax', spanOf(problem.pos[0], problem.pos[1]), problem.message.replaceAll('\n', ' '));
  }
  if (document.errors.length > 0 || document.contents === null) return undefined;

  let count = 0;
  const convert = (node: Node | null | undefined, fallback: SourceSpan, depth: number): Located => {
    const span = node?.range ? spanOf(node.range[0], node.range[1]) : fallback;
    if (++count > MAX_VALUES || depth > MAX_DEPTH) {
      if (count === MAX_VALUES + 1 || depth > MAX_DEPTH)
        diagnostics.error('yaml-too-large', span, `more than ${MAX_VALUES} values or ${MAX_DEPTH} levels`);
      return { kind: 'scalar', value: null, span };
    }
    if (isAlias(node)) return { ...convert(node.resolve(document), span, depth + 1), span };
    if (isSeq(node)) return { kind: 'list', items: node.items.map(item => convert(item as Node, span, depth + 1)), span };
    if (isMap(node)) return { kind: 'map', members: convertMembers(node.items as Pair<Node, Node | null>[], span, depth), span };
    if (isScalar(node)) return { kind: 'scalar', value: checkScalar(node.value, span), span };
    return { kind: 'scalar', value: null, span };
  };
  const checkScalar = (value: unknown, span: SourceSpan): null | boolean | number | string => {
    if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    diagnostics.error('yaml-value', span, `${String(value)} is not a value that a pipeline can hold`);
    return null;
  };
  const convertMembers = (pairs: readonly Pair<Node, Node | null>[], span: SourceSpan, depth: number): ReadonlyMap<string, Member> => {
    const members = new Map<string, Member>();
    for (const pair of pairs) {
      const keySpan = pair.key.range ? spanOf(pair.key.range[0], pair.key.range[1]) : span;
      const key = isScalar(pair.key) ? String(pair.key.value) : undefined;
      if (key === undefined) {
        diagnostics.error('yaml-value', keySpan, 'a key must be plain text');
      } else if (key === '<<') {
        const merged = convert(pair.value, keySpan, depth + 1);
        for (const source of merged.kind === 'list' ? merged.items : [merged]) {
          if (source.kind !== 'map') diagnostics.error('yaml-value', keySpan, '<< merges maps');
          else for (const [name, member] of source.members) if (!members.has(name)) members.set(name, member);
        }
      } else {
        members.set(key, { keySpan, value: convert(pair.value, keySpan, depth + 1) });
      }
    }
    return members;
  };
  const root = convert(document.contents, spanOf(0, 0), 0);
  return count > MAX_VALUES ? undefined : root;
}
