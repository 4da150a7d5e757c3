/** YAML text as located values, by the `yaml` package: every mistake is a diagnostic, and what aliases, merges and nesting multiply out to is bounded. */
import { setFlagsFromString } from 'node:v8';
import {
  Composer,
  type CST,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  type Pair,
  type ParsedNode,
  Parser,
  type Scalar,
} from 'yaml';
import type { DiagnosticSink } from '../model/diagnostic.js';
import type { SourceSpan } from '../model/source-span.js';
import type { Located, Member } from './located.js';
import { MAX_CHARACTERS } from './read-text.js';

/** Values over the whole file, those that aliases and merges stand for included: a chain of 50,000 stages has 650,000. */
const MAX_VALUES = 1_000_000;
const MAX_DEPTH = 100;
/** Pieces of text that the parser takes at a time: they bound its memory. */
const MAX_TOKENS = 5_000_000;

/** From here on the heap grows by a fifth between two collections, not by half: the syntax tree of 50,000 stages takes half a gigabyte. */
const LARGE_CHARACTERS = 2_000_000;

const TOO_LARGE = 'yaml-too-large';
const HELP = 'docs/pipeline-format.md lists the limits of a file';

/** The root value, or undefined for an empty file or one with syntax errors, which are in `diagnostics` then. YAML 1.2 core schema; anchors and merge keys (`<<`) work. */
export function parseYaml(file: string, text: string, diagnostics: DiagnosticSink): Located | undefined {
  if (text.length > MAX_CHARACTERS) {
    diagnostics.error(TOO_LARGE, undefined, `${file} has more than ${MAX_CHARACTERS.toLocaleString('en')} characters`, HELP);
    return undefined;
  }
  if (text.length > LARGE_CHARACTERS) setFlagsFromString('--heap-growing-percent=20');
  const lineCounter = new LineCounter();
  const spanOf = (from: number, to: number): SourceSpan => {
    const start = lineCounter.linePos(from);
    const end = lineCounter.linePos(Math.max(from, to));
    return { file, line: start.line, column: start.col, endLine: end.line, endColumn: end.col };
  };
  const composed = composeDocument(text, lineCounter);
  if (composed.kind === 'too-large') {
    diagnostics.error(TOO_LARGE, spanOf(composed.offset, composed.offset), composed.message, HELP);
    return undefined;
  }
  const { document } = composed;
  for (const problem of [...document.errors, ...document.warnings]) {
    diagnostics.error('yaml-syntax', spanOf(problem.pos[0], problem.pos[1]), problem.message.replaceAll('\n', ' '));
  }
  if (composed.second !== undefined)
    diagnostics.error('yaml-syntax', spanOf(composed.second, composed.second), 'a second document begins here: a file holds one');
  if (document.errors.length > 0 || composed.second !== undefined || document.contents === null) return undefined;
  return convertDocument(document.contents, spanOf, diagnostics);
}

type Composed =
  | { readonly kind: 'document'; readonly document: Document<ParsedNode>; readonly second: number | undefined }
  | { readonly kind: 'too-large'; readonly offset: number; readonly message: string };

/** As the package's parseDocument does it, token by token, so that it ends where a text is nested deeper than the composer's stack, or too large for the memory. */
function composeDocument(text: string, lineCounter: LineCounter): Composed {
  const parser = new Parser(lineCounter.addNewLine);
  // Unique keys are checked below: the package compares each key with all others.
  const composer = new Composer({ version: '1.2', uniqueKeys: false, lineCounter, prettyErrors: false, logLevel: 'silent' });
  const documents: Document[] = [];
  lineCounter.addNewLine(0);
  let tokens = 0;
  const open: Token[] = [];
  for (const source of new Lexer().lex(text)) {
    for (const token of parser.next(source)) documents.push(...composer.next(token));
    tightenClosed(open, parser.stack);
    if (parser.stack.length > MAX_DEPTH + STACK_BASE)
      return { kind: 'too-large', offset: parser.offset, message: `values nest deeper than ${MAX_DEPTH} levels` };
    if (++tokens > MAX_TOKENS)
      return { kind: 'too-large', offset: parser.offset, message: `the file has more than ${MAX_TOKENS.toLocaleString('en')} tokens` };
  }
  for (const token of parser.end()) documents.push(...composer.next(token));
  documents.push(...composer.end(true, text.length));
  const [document, second] = documents;
  return {
    kind: 'document',
    document: document as Document<ParsedNode>,
    second: second === undefined ? undefined : (second.range?.[0] ?? 0),
  };
}

type Token = CST.Token;

/** What has left the parser's stack grows no more. @param open what was on it before. */
function tightenClosed(open: Token[], stack: readonly Token[]): void {
  while (open.length > stack.length) tighten(open.pop());
  for (let at = stack.length - 1; at >= 0 && open[at] !== stack[at]; at--) {
    tighten(open[at]);
    const token = stack[at];
    if (token !== undefined) open[at] = token;
  }
}

/** The parser grows lists of one or two tokens by 16: copies of the right size take a third less memory for the whole file. */
function tighten(token: Token | undefined): void {
  if (token === undefined || !('items' in token)) return;
  for (const item of token.items) {
    if (item.start.length > 0) item.start = [...item.start];
    if (item.sep) item.sep = [...item.sep];
  }
}

/** The parser's stack holds the document and the scalar that is being read besides the collections. */
const STACK_BASE = 4;

/** How many values something stands for with all aliases written out, and how many levels it has. */
interface Extent {
  readonly values: number;
  readonly levels: number;
}

interface Converted extends Extent {
  readonly located: Located;
  /** Of a map: each member's, for maps that merge it. */
  readonly members?: ReadonlyMap<string, Extent>;
  /** Of a list, for the same. */
  readonly items?: readonly Converted[];
}

/** What stands behind an anchor. 'open' while its own value is read: an alias in it would never end. */
type Anchored = Converted | 'open';

type SpanOf = (from: number, to: number) => SourceSpan;

/** Thrown where the limits are exceeded, and caught below. */
class TooLarge extends Error {
  readonly span: SourceSpan;
  constructor(span: SourceSpan, message: string) {
    super(message);
    this.span = span;
  }
}

function convertDocument(contents: Node, spanOf: SpanOf, diagnostics: DiagnosticSink): Located | undefined {
  let mistakes = 0;
  const mistake = (span: SourceSpan, message: string): void => {
    mistakes++;
    diagnostics.error('yaml-syntax', span, message);
  };
  try {
    const { located } = openConverter(spanOf, mistake, diagnostics)(contents, spanOf(0, 0), 0);
    return mistakes > 0 ? undefined : located;
  } catch (error) {
    if (!(error instanceof TooLarge)) throw error;
    diagnostics.error(TOO_LARGE, error.span, error.message, HELP);
    return undefined;
  }
}

/** Each anchor is converted once, and its aliases share the value: the work is linear in the text, whatever it would multiply out to. */
function openConverter(spanOf: SpanOf, mistake: (span: SourceSpan, message: string) => void, diagnostics: DiagnosticSink) {
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
      ? convertItems(node.items as Node[], span, depth, use === 'merged' || node.anchor !== undefined ? 'merged' : undefined)
      : isMap(node)
        ? convertMembers(node.items as Pair<Node, Node | null>[], span, depth, use === 'merged' || node.anchor !== undefined)
        : leaf({ kind: 'scalar', value: isScalar(node) ? checkScalar(node, span) : null, span });
    if (node.anchor !== undefined) anchors.set(node.anchor, converted);
    return converted;
  };

  const takeAnchored = (name: string, span: SourceSpan, depth: number): Converted => {
    const target = findAnchored(name, span);
    take(target.values, depth + target.levels, span);
    return { ...target, located: { ...target.located, span } };
  };

  /** The last anchor of the name that stands before the alias. */
  const findAnchored = (name: string, span: SourceSpan): Converted => {
    const target = anchors.get(name);
    if (target !== undefined && target !== 'open') return target;
    const why = target === 'open' ? 'it stands in what it names' : 'no anchor of that name stands before it';
    mistake(span, `the alias "*${name}" names nothing: ${why}`);
    return leaf({ kind: 'scalar', value: null, span });
  };

  const convertItems = (nodes: readonly Node[], span: SourceSpan, depth: number, use: 'merged' | undefined): Converted => {
    const before = values;
    const items = nodes.map(item => convert(item, span, depth + 1, use));
    const levels = items.reduce((most, item) => Math.max(most, item.levels), 0);
    const located: Located = { kind: 'list', items: items.map(item => item.located), span };
    return { located, values: values - before + 1, levels: levels + 1, items };
  };

  const checkScalar = ({ value, source }: Scalar, span: SourceSpan): null | boolean | number | string => {
    if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
    if (typeof value === 'number' && Number.isFinite(value) && !losesDigits(value, source)) return value;
    const what = typeof value === 'number' && Number.isFinite(value) ? `${source} has more digits than a number holds` : undefined;
    diagnostics.error(
      'yaml-value',
      span,
      what ?? `${String(value)} is not a value that a pipeline can hold`,
      what === undefined ? undefined : 'write it as text, in quotes',
    );
    return null;
  };

  const convertMembers = (pairs: readonly Pair<Node, Node | null>[], span: SourceSpan, depth: number, isMergeable: boolean): Converted => {
    const members = new Map<string, Member>();
    const extents = isMergeable ? new Map<string, Extent>() : undefined;
    const extent = { values: 1, levels: 0 };
    const add = (name: string, value: Member, { values, levels }: Extent): void => {
      members.set(name, value);
      extents?.set(name, { values, levels });
      extent.values += values;
      extent.levels = Math.max(extent.levels, levels);
    };
    const written = new Set<string>();
    for (const pair of pairs) {
      const keySpan = pair.key.range ? spanOf(pair.key.range[0], pair.key.range[1]) : span;
      const key = isScalar(pair.key) ? String(pair.key.value) : undefined;
      if (key === undefined) diagnostics.error('yaml-value', keySpan, 'a key must be plain text');
      else if (written.has(key)) mistake(keySpan, `Map keys must be unique: "${key}" stands here twice`);
      else if (key === '<<') merge(pair.value, { members, add }, keySpan, depth);
      else {
        const converted = convert(pair.value, keySpan, depth + 1);
        add(key, { keySpan, value: converted.located }, converted);
      }
      if (key !== undefined) written.add(key);
    }
    const located: Located = { kind: 'map', members, span };
    return { located, values: extent.values, levels: extent.levels + 1, ...(extents === undefined ? {} : { members: extents }) };
  };

  /** What is written in the map itself goes first, and what stands earlier in a list of maps goes before what stands later. */
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

  return convert;
}

function leaf(located: Located): Converted {
  return { located, values: 1, levels: 0 };
}

/** An integer beyond 2⁵³ would silently become its neighbor. */
function losesDigits(value: number, source: string | undefined): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value) && /^[-+]?\d+$/.test(source ?? '');
}
