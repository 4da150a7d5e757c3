/** Conversion of nodes of the `yaml` package to located values, with limits on what aliases, merges and nesting expand to. */
import { isAlias, isMap, isScalar, isSeq, type Node, type Pair, type YAMLMap, type YAMLSeq } from 'yaml';
import type { DiagnosticSink } from '../model/diagnostic.js';
import type { SourceSpan } from '../model/source-span.js';
import type { Located, Member } from './located.js';
import { checkText, scalarValue } from './scalar-value.js';

/** Maximum number of values in the whole file, including those that aliases and merges expand to. For comparison: a chain of 50,000 stages has 650,000. */
const MAX_VALUES = 1_000_000;
export const MAX_DEPTH = 100;

/** The number of values with all aliases expanded, and the number of nesting levels. */
export interface Extent {
  readonly values: number;
  readonly levels: number;
}

export interface Converted extends Extent {
  readonly located: Located;
  /** For a map: the extent of each member. Maps that merge this one need it. */
  readonly members?: ReadonlyMap<string, Extent>;
  /** For a list: its items. Maps that merge the list need them. */
  readonly items?: readonly Converted[];
}

/** The value of an anchor. 'open' while that value is still being read: an alias inside it would never end. */
type Anchored = Converted | 'open';

/** The state of the conversion of one file. */
interface Conversion {
  readonly spanOf: SpanOf;
  readonly mistake: (span: SourceSpan, message: string) => void;
  readonly diagnostics: DiagnosticSink;
  /** By offset: the collections whose first members or items were already taken. */
  readonly begun: Map<number, OpenMap | Converted[]>;
  readonly anchors: Map<string, Anchored>;
  /** Number of values so far. */
  values: number;
}

export type SpanOf = (from: number, to: number) => SourceSpan;

/** Thrown if a limit is exceeded. `parseYaml` catches it. */
export class TooLarge extends Error {
  readonly span: SourceSpan;
  constructor(span: SourceSpan, message: string) {
    super(message);
    this.span = span;
  }
}

export interface Converter {
  /** @param depth the number of collections that contain the node. @throws TooLarge. */
  convert(node: Node | null, fallback: SourceSpan, depth: number): Converted;
  /** Takes the first or the next items of the collection at `offset`. When that collection is converted, they precede its own items. @throws TooLarge. */
  takeItems(items: Node, offset: number, depth: number): void;
}

/** Each anchor is converted once and its aliases share the value. The work is therefore linear in the text, whatever the text expands to. */
export function openConverter(
  spanOf: SpanOf,
  mistake: (span: SourceSpan, message: string) => void,
  diagnostics: DiagnosticSink,
): Converter {
  const state: Conversion = { spanOf, mistake, diagnostics, begun: new Map(), anchors: new Map(), values: 0 };
  return {
    convert: (node, fallback, depth) => convert(state, node, fallback, depth),
    takeItems(items, offset, depth) {
      const span = spanOf(offset, offset);
      if (isMap(items)) state.begun.set(offset, takeMembers(state, items, span, depth, false));
      else if (isSeq(items)) state.begun.set(offset, takeList(state, items, depth, span));
    },
  };
}

function take(state: Conversion, count: number, depth: number, span: SourceSpan): void {
  state.values += count;
  if (state.values > MAX_VALUES)
    throw new TooLarge(span, `the file has more than ${MAX_VALUES.toLocaleString('en')} values, with aliases and merges written out`);
  if (depth > MAX_DEPTH) throw new TooLarge(span, `values nest deeper than ${MAX_DEPTH} levels`);
}

function convert(state: Conversion, node: Node | null | undefined, fallback: SourceSpan, depth: number, use?: 'merged'): Converted {
  const span = node?.range ? state.spanOf(node.range[0], node.range[1]) : fallback;
  if (isAlias(node)) return takeAnchored(state, node.source, span, depth);
  take(state, 1, depth, span);
  if (node === null || node === undefined) return leaf({ kind: 'scalar', value: null, span });
  if (node.anchor !== undefined) state.anchors.set(node.anchor, 'open');
  const converted = isSeq(node)
    ? convertItems(state, node, span, depth, use === 'merged' || node.anchor !== undefined ? 'merged' : undefined)
    : isMap(node)
      ? convertMembers(state, node, span, depth, use === 'merged' || node.anchor !== undefined)
      : leaf({ kind: 'scalar', value: isScalar(node) ? scalarValue(node, span, state.diagnostics) : null, span });
  if (node.anchor !== undefined) state.anchors.set(node.anchor, converted);
  return converted;
}

function takeAnchored(state: Conversion, name: string, span: SourceSpan, depth: number): Converted {
  const target = findAnchored(state, name, span);
  take(state, target.values, depth + target.levels, span);
  return { ...target, located: { ...target.located, span } };
}

/** Returns the last anchor of the name that precedes the alias. */
function findAnchored(state: Conversion, name: string, span: SourceSpan): Converted {
  const target = state.anchors.get(name);
  if (target !== undefined && target !== 'open') return target;
  const why = target === 'open' ? 'it is part of the value that it names' : 'no anchor of that name precedes it';
  state.mistake(span, `the alias "*${name}" is undefined: ${why}`);
  return leaf({ kind: 'scalar', value: null, span });
}

function convertItems(state: Conversion, node: YAMLSeq, span: SourceSpan, depth: number, use: 'merged' | undefined): Converted {
  const before = state.values;
  const items = takeList(state, node, depth, span, use);
  const levels = items.reduce((most, item) => Math.max(most, item.levels), 0);
  const located: Located = { kind: 'list', items: items.map(item => item.located), span };
  return { located, values: state.values - before + 1, levels: levels + 1, items };
}

/** Returns the items that were taken before, followed by the node's own. */
function takeList(state: Conversion, node: YAMLSeq, depth: number, span: SourceSpan, use?: 'merged'): Converted[] {
  const known = state.begun.get(offsetOf(node));
  const items = Array.isArray(known) ? known : [];
  for (const item of node.items as Node[]) items.push(convert(state, item, span, depth + 1, use));
  return items;
}

function convertMembers(state: Conversion, node: YAMLMap, span: SourceSpan, depth: number, isMergeable: boolean): Converted {
  const { members, extents, extent } = takeMembers(state, node, span, depth, isMergeable);
  const located: Located = { kind: 'map', members, span };
  return { located, values: extent.values, levels: extent.levels + 1, ...(extents === undefined ? {} : { members: extents }) };
}

/** Returns the members that were taken before, together with the node's own. */
function takeMembers(state: Conversion, node: YAMLMap, span: SourceSpan, depth: number, isMergeable: boolean): OpenMap {
  const known = state.begun.get(offsetOf(node));
  const map = known === undefined || Array.isArray(known) ? openMap(isMergeable) : known;
  for (const pair of node.items as Pair<Node, Node | null>[]) {
    const keySpan = pair.key.range ? state.spanOf(pair.key.range[0], pair.key.range[1]) : span;
    const key = isScalar(pair.key) ? checkText(String(pair.key.value), keySpan, state.diagnostics) : undefined;
    if (key === undefined) state.diagnostics.error('yaml-value', keySpan, 'a key must be plain text');
    else if (map.written.has(key)) refuseDuplicate(state, pair.value, key, { keySpan, depth });
    else if (key === '<<') mergeInto(state, map, pair.value, { keySpan, depth });
    else {
      const converted = convert(state, pair.value, keySpan, depth + 1);
      addMember(map, key, { keySpan, value: converted.located }, converted);
    }
    if (key !== undefined) map.written.add(key);
  }
  return map;
}

/** The first value of the key is used, so that the rest of the file is checked as well. Anchors in the refused value count, because aliases may name them. */
function refuseDuplicate(
  state: Conversion,
  value: Node | null,
  key: string,
  { keySpan, depth }: { readonly keySpan: SourceSpan; readonly depth: number },
): void {
  state.diagnostics.error('yaml-syntax', keySpan, `duplicate key "${key}": keys of a map must be unique`);
  if (key !== '<<') convert(state, value, keySpan, depth + 1);
}

/** Members written in the map itself take precedence. In a list of merged maps, an earlier map takes precedence over a later one. */
function mergeInto(
  state: Conversion,
  into: OpenMap,
  node: Node | null,
  { keySpan, depth }: { readonly keySpan: SourceSpan; readonly depth: number },
): void {
  for (const item of isSeq(node) ? (node.items as Node[]) : [node]) {
    const source = isAlias(item) ? findAnchored(state, item.source, keySpan) : convert(state, item, keySpan, depth, 'merged');
    take(state, 1, depth, keySpan);
    for (const { located, members } of source.items ?? [source]) {
      if (located.kind !== 'map') state.diagnostics.error('yaml-value', keySpan, '<< merges maps');
      else
        for (const [name, member] of located.members) {
          const extent = members?.get(name);
          if (extent === undefined || into.members.has(name)) continue;
          take(state, extent.values, depth + 1 + extent.levels, keySpan);
          addMember(into, name, member, extent);
        }
    }
  }
}

/** A map whose members are being converted. */
interface OpenMap {
  readonly members: Map<string, Member>;
  /** Defined only for a map that may be merged. */
  readonly extents: Map<string, Extent> | undefined;
  readonly extent: { values: number; levels: number };
  /** Keys that appear in the text. Each may appear once. */
  readonly written: Set<string>;
}

function openMap(isMergeable: boolean): OpenMap {
  return { members: new Map(), extents: isMergeable ? new Map() : undefined, extent: { values: 1, levels: 0 }, written: new Set() };
}

function addMember(map: OpenMap, name: string, value: Member, { values, levels }: Extent): void {
  map.members.set(name, value);
  map.extents?.set(name, { values, levels });
  map.extent.values += values;
  map.extent.levels = Math.max(map.extent.levels, levels);
}

/** Returns the offset at which a collection begins. It is unique, because no two collections begin at the same offset. */
function offsetOf({ range }: Node): number {
  return range?.[0] ?? -1;
}

function leaf(located: Located): Converted {
  return { located, values: 1, levels: 0 };
}
