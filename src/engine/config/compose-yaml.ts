/** Composition of YAML text with the `yaml` package, token by token, so that neither deep nesting nor large files exhaust the stack or memory. */
import { Composer, type CST, type Document, Lexer, type LineCounter, type ParsedNode, Parser } from 'yaml';
import { MAX_DEPTH } from './convert-yaml.js';
import { createReducer, type TakeItems } from './reduce-yaml.js';

/** Maximum number of lexer tokens in a file. It bounds the memory of the parser. */
const MAX_TOKENS = 5_000_000;

export type Composed =
  | { readonly kind: 'document'; readonly document: Document<ParsedNode>; readonly second: number | undefined }
  | { readonly kind: 'too-large'; readonly offset: number; readonly message: string };

/** The same options as for the package's `parseDocument`. The converter checks for duplicate keys, because the package compares each key with all others. */
const OPTIONS = { version: '1.2', uniqueKeys: false, prettyErrors: false, logLevel: 'silent' } as const;

/** @param take receives the finished items of large collections. They are not in the returned document. */
export function composeDocument(text: string, lineCounter: LineCounter, take: TakeItems): Composed {
  const parser = new Parser(lineCounter.addNewLine);
  const composer = new Composer({ ...OPTIONS, lineCounter });
  const reducer = createReducer(take, composePart);
  const documents: Document[] = [];
  lineCounter.addNewLine(0);
  let tokens = 0;
  const open: Token[] = [];
  for (const source of new Lexer().lex(text)) {
    for (const token of parser.next(source)) documents.push(...composer.next(token));
    tightenClosed(open, parser.stack);
    reducer.observe(source, parser.stack);
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

/** Returns a document whose only value is `value`. */
function composePart(value: Token, offset: number): Document {
  const [document] = new Composer(OPTIONS).compose([{ type: 'document', offset, start: [], value }]);
  return document as Document;
}

type Token = CST.Token;

/**
 * Tightens the tokens that have left the parser's stack, because they grow no further.
 * @param open the tokens that were on the stack before. Updated to `stack`.
 */
function tightenClosed(open: Token[], stack: readonly Token[]): void {
  while (open.length > stack.length) tighten(open.pop());
  for (let at = stack.length - 1; at >= 0 && open[at] !== stack[at]; at--) {
    tighten(open[at]);
    const token = stack[at];
    if (token !== undefined) open[at] = token;
  }
}

/**
 * Replaces lists of a token by copies of the exact size.
 * The parser grows lists of one or two tokens by 16; the copies save a third of the memory for the whole file.
 */
function tighten(token: Token | undefined): void {
  if (token === undefined || !('items' in token)) return;
  for (const item of token.items) {
    if (item.start.length > 0) item.start = [...item.start];
    if (item.sep) item.sep = [...item.sep];
  }
}

/** Number of entries on the parser's stack besides the collections, such as the document and the scalar that is being read. */
const STACK_BASE = 4;
