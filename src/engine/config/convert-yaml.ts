/** Conversion of nodes of the `yaml` package to located values, with limits on what aliases, merges and nesting expand to. */
import { isAlias, isMap, isScalar, isSeq, type Node, type Pair, type Scalar, type YAMLMap, type YAMLSeq } from 'yaml';
import type { DiagnosticSink } from '../model/diagnostic.js';
import type { SourceSpan } from '../model/source-span.js';
import type { Located, Member } from './located.js';

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
  const begun = new Map<number, OpenMap | Converted[]>();
  const anchors = new Map<string, Anchored>();
  let values = 0;

  const take = (count: number, depth: number, span: SourceSpan): void => {
    values += count;
    if (values > MAX_VALUES)
      throw new TooLarge(span, `the file has more than ${MAX_VALUES.toLocaleString('en')} values, with aliases and merges written out`);
    if (depth > MAX_DEPTH) throw new TooLarge(span, `values nest deeper than ${MAX_DEPTH} levels`);
  };

  const convert = (node: Node | null | undefined, fallback: SourceSpan, depth: number, use?: 'merged'): Converted => {
    const span = node?.range ? spanOf(node.range[0], node.range[1]) : fallback;
    if (isAlias(node)) return takeAnchored(node.source, span, depth);
    take(1, depth, span);
    if (node === null || node === undefined) return leaf({ kind: 'scalar', value: null, span });
    if (node.anchor !== undefined) anchors.set(node.anchor, 'open');
    const converted = isSeq(node)
      ? convertItems(node, span, depth, use === 'merged' || node.anchor !== undefined ? 'merged' : undefined)
      : isMap(node)
        ? convertMembers(node, span, depth, use === 'merged' || node.anchor !== undefined)
        : leaf({ kind: 'scalar', value: isScalar(node) ? checkScalar(node, span) : null, span });
    if (node.anchor !== undefined) anchors.set(node.anchor, converted);
    return converted;
  };

  const takeAnchored = (name: string, span: SourceSpan, depth: number): Converted => {
    const target = findAnchored(name, span);
    take(target.values, depth + target.levels, span);
    return { ...target, located: { ...target.located, span } };
  };

  /** Returns the last anchor of the name that precedes the alias. */
  const findAnchored = (name: string, span: SourceSpan): Converted => {
    const target = anchors.get(name);
    if (target !== undefined && target !== 'open') return target;
    const why = target === 'open' ? 'it is part of the value that it names' : 'no anchor of that name precedes it';
    mistake(span, `the alias "*${name}" is undefined: ${why}`);
    return leaf({ kind: 'scalar', value: null, span });
  };

  const convertItems = (node: YAMLSeq, span: SourceSpan, depth: number, use: 'merged' | undefined): Converted => {
    const before = values;
    const items = takeList(node, depth, span, use);
    const levels = items.reduce((most, item) => Math.max(most, item.levels), 0);
    const located: Located = { kind: 'list', items: items.map(item => item.located), span };
    return { located, values: values - before + 1, levels: levels + 1, items };
  };

  /** Returns the items that were taken before, followed by the node's own. */
  const takeList = (node: YAMLSeq, depth: number, span: SourceSpan, use?: 'merged'): Converted[] => {
    const known = begun.get(offsetOf(node));
    const items = Array.isArray(known) ? known : [];
    for (const item of node.items as Node[]) items.push(convert(item, span, depth + 1, use));
    return items;
  };

  const checkScalar = ({ value, source }: Scalar, span: SourceSpan): null | boolean | number | string => {
    if (value === null || typeof value === 'boolean') return value;
    if (typeof value === 'string') return checkText(value, span);
    if (typeof value === 'number' && Number.isFinite(value) && !losesDigits(value, source)) return value;
    const what = typeof value === 'number' && Number.isFinite(value) ? `${source} has more digits than a number can hold` : undefined;
    diagnostics.error(
      'yaml-value',
      span,
      what ?? `${String(value)} is not a value that a pipeline can hold`,
      what === undefined ? undefined : 'write it as text, in quotes',
    );
    return null;
  };

  /** Reports a lone surrogate. JSON distinguishes lone surrogates, but files and programs do not receive them: two keys would stand for equal bytes. */
  const checkText = (text: string, span: SourceSpan): string => {
    if (HALF_CHARACTER.test(text))
      diagnostics.error('yaml-value', span, 'the text has half of a character: an unpaired surrogate', 'write the whole character');
    return text;
  };

  const convertMembers = (node: YAMLMap, span: SourceSpan, depth: number, isMergeable: boolean): Converted => {
    const { members, extents, extent } = takeMembers(node, span, depth, isMergeable);
    const located: Located = { kind: 'map', members, span };
    return { located, values: extent.values, levels: extent.levels + 1, ...(extents === undefined ? {} : { members: extents }) };
  };

  /** Returns the members that were taken before, together with the node's own. */
  const takeMembers = (node: YAMLMap, span: SourceSpan, depth: number, isMergeable: boolean): OpenMap => {
    const known = begun.get(offsetOf(node));
    const map = known === undefined || Array.isArray(known) ? openMap(isMergeable) : known;
    const add = (name: string, value: Member, { values, levels }: Extent): void => {
      map.members.set(name, value);
      map.extents?.set(name, { values, levels });
      map.extent.values += values;
      map.extent.levels = Math.max(map.extent.levels, levels);
    };
    for (const pair of node.items as Pair<Node, Node | null>[]) {
      const keySpan = pair.key.range ? spanOf(pair.key.range[0], pair.key.range[1]) : span;
      const key = isScalar(pair.key) ? checkText(String(pair.key.value), keySpan) : undefined;
      if (key === undefined) diagnostics.error('yaml-value', keySpan, 'a key must be plain text');
      else if (map.written.has(key)) mistake(keySpan, `duplicate key "${key}": keys of a map must be unique`);
      else if (key === '<<') merge(pair.value, { members: map.members, add }, keySpan, depth);
      else {
        const converted = convert(pair.value, keySpan, depth + 1);
        add(key, { keySpan, value: converted.located }, converted);
      }
      if (key !== undefined) map.written.add(key);
    }
    return map;
  };

  /** Members written in the map itself take precedence. In a list of merged maps, an earlier map takes precedence over a later one. */
  const merge = (
    node: Node | null,
    into: { readonly members: ReadonlyMap<string, Member>; readonly add: (name: string, value: Member, extent: Extent) => void },
    keySpan: SourceSpan,
    depth: number,
  ): void => {
    for (const item of isSeq(node) ? (node.items as Node[]) : [node]) {
      const source = isAlias(item) ? findAnchored(item.source, keySpan) : convert(item, keySpan, depth, 'merged');
      take(1, depth, keySpan);
      for (const { located, members } of source.items ?? [source]) {
        if (located.kind !== 'map') diagnostics.error('yaml-value', keySpan, '<< merges maps');
        else
          for (const [name, member] of located.members) {
            const extent = members?.get(name);
            if (extent === undefined || into.members.has(name)) continue;
            take(extent.values, depth + 1 + extent.levels, keySpan);
            into.add(name, member, extent);
          }
      }
    }
  };

  return {
    convert,
    takeItems(items, offset, depth) {
      const span = spanOf(offset, offset);
      if (isMap(items)) begun.set(offset, takeMembers(items, span, depth, false));
      else if (isSeq(items)) begun.set(offset, takeList(items, depth, span));
    },
  };
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

/** Returns the offset at which a collection begins. It is unique, because no two collections begin at the same offset. */
function offsetOf({ range }: Node): number {
  return range?.[0] ?? -1;
}

function leaf(located: Located): Converted {
  return { located, values: 1, levels: 0 };
}

const HALF_CHARACTER = /\p{Surrogate}/u;

/** An integer beyond ±2⁵³ would silently become a neighboring value. */
function losesDigits(value: number, source: string | undefined): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value) && /^[-+]?\d+$/.test(source ?? '');
}
