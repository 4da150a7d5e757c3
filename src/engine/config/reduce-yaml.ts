/** Converts the finished items of a large block collection while the rest of the file is parsed: the syntax tree takes ten times the memory of its values. */
import { type CST, type Document, isSeq, type Node } from 'yaml';

/** Items that are composed together. Smaller collections are left to the composer. */
const BATCH = 256;

/** Takes the node of a finished collection that stands in `depth` collections. */
export type Reduce = (node: Node, offset: number, depth: number) => void;

export interface Reducer {
  /** To be called after every piece of text that the parser has taken. */
  look(source: string, stack: readonly CST.Token[]): void;
}

type Block = CST.BlockMap | CST.BlockSequence;
type Item = Block['items'][number];
type Collection = Extract<CST.Token, { items: unknown }>;

/** A block collection on the parser's stack. */
interface Level {
  readonly block: Block;
  /** The first item that nothing was decided of. */
  next: number;
  pending: Item[];
}

/**
 * A finished collection is replaced by a plain scalar at the same offset.
 * Nothing is reduced after the first anchor, alias, tag or directive of the file: their meaning depends on the rest of the document.
 * @param compose composes one value as a document.
 */
export function createReducer(reduce: Reduce, compose: (value: CST.Token, offset: number) => Document): Reducer {
  const levels: (Level | undefined)[] = [];
  let isOpen = true;

  const flush = ({ block, pending }: Level, depth: number): void => {
    const collections = pending.flatMap(({ value }) => (isCollection(value) ? [value] : []));
    const first = collections[0];
    if (first === undefined) return;
    const { contents, errors, warnings } = compose(asSequence(collections, block.indent, first.offset), first.offset);
    const nodes = isSeq(contents) ? contents.items : [];
    // What is wrong is reported when the whole document is composed.
    isOpen = errors.length + warnings.length === 0 && nodes.length === collections.length;
    if (!isOpen) return;
    for (const [index, { offset }] of collections.entries()) reduce(nodes[index] as Node, offset, depth);
    for (const item of pending) if (isCollection(item.value)) item.value = placeholder(item.value);
  };

  return {
    look(source, stack) {
      if (!isOpen) return;
      if (MEANS_MORE.test(source)) isOpen = false;
      const depth = stack.length - 1;
      const block = stack[depth];
      if (!isOpen || !isBlock(block) || block.items.length < BATCH) return;
      let level = levels[depth];
      if (level?.block !== block) level = levels[depth] = { block, next: 0, pending: [] };
      // The parser may still add comments to the last two.
      for (; level.next < block.items.length - 2; level.next++) {
        const item = block.items[level.next];
        if (item !== undefined && isPlain(item)) level.pending.push(item);
      }
      if (level.pending.length < BATCH) return;
      if (stack.slice(1, depth).every(isPlainLevel)) flush(level, depth);
      level.pending = [];
    },
  };
}

/** An anchor, an alias, a tag or a directive, as the lexer gives them. */
const MEANS_MORE = /^[&*!%]/;

function isBlock(token: CST.Token | undefined): token is Block {
  return token?.type === 'block-map' || token?.type === 'block-seq';
}

function isCollection(token: CST.Token | null | undefined): token is Collection {
  return token !== null && token !== undefined && 'items' in token;
}

/** Whether the item's value means the same alone as where it stands. */
function isPlain({ key, sep, value }: Item): boolean {
  if (!isCollection(value) || isMergeKey(key)) return false;
  return value.type === 'flow-collection' || sep === undefined || sep.some(({ type }) => type === 'newline');
}

function isPlainLevel(token: CST.Token): boolean {
  return isBlock(token) && !isMergeKey(token.items.at(-1)?.key);
}

function isMergeKey(key: CST.Token | null | undefined): boolean {
  return key?.type === 'scalar' && key.source === '<<';
}

function asSequence(values: readonly Collection[], indent: number, offset: number): CST.BlockSequence {
  const items = values.map(value => ({
    start: [{ type: 'seq-item-ind', offset: value.offset, indent, source: '-' } satisfies CST.SourceToken],
    value,
  }));
  return { type: 'block-seq', offset, indent, items };
}

function placeholder({ offset, indent }: Collection): CST.FlowScalar {
  return { type: 'scalar', offset, indent, source: 'x', end: [] };
}
