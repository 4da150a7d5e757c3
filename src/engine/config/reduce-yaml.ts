/** Converts the finished items of a large block collection while the rest of the file is parsed: the syntax tree takes ten times the memory of its values. */
import { type CST, type Document, isMap, isSeq, type Node } from 'yaml';

/** Items that are composed together. Smaller collections are left to the composer. */
const BATCH = 256;

/** Takes the first items of the collection at `offset`, which stands in `depth` collections. */
export type TakeItems = (items: Node, offset: number, depth: number) => void;

export interface Reducer {
  /** To be called after every piece of text that the parser has taken. */
  look(source: string, stack: readonly CST.Token[]): void;
}

type Block = CST.BlockMap | CST.BlockSequence;

/**
 * What was taken is removed from the syntax tree.
 * Nothing is taken after the first anchor, alias, tag or directive of the file: their meaning depends on the rest of the document.
 * @param compose composes one value as a document.
 */
export function createReducer(take: TakeItems, compose: (value: CST.Token, offset: number) => Document): Reducer {
  let isOpen = true;
  return {
    look(source, stack) {
      if (!isOpen) return;
      if (MEANS_MORE.test(source)) isOpen = false;
      const depth = stack.length - 1;
      const block = stack[depth];
      if (!isOpen || !isBlock(block) || block.items.length < BATCH + PARSED || !stack.slice(1, depth).every(isPlain)) return;
      const done = { ...block, items: block.items.slice(0, -PARSED) } as Block;
      const { contents, errors, warnings } = compose(done, block.offset);
      // What is wrong is reported when the whole document is composed.
      isOpen = errors.length + warnings.length === 0 && (isMap(contents) || isSeq(contents));
      if (!isOpen) return;
      take(contents as Node, block.offset, depth - 1);
      block.items.splice(0, done.items.length);
    },
  };
}

/** The parser may still add to the last items of a collection. */
const PARSED = 2;

/** An anchor, an alias, a tag or a directive, as the lexer gives them. */
const MEANS_MORE = /^[&*!%]/;

function isBlock(token: CST.Token | undefined): token is Block {
  return token?.type === 'block-map' || token?.type === 'block-seq';
}

/** Whether what stands in the last item means the same as in any other place: what is merged does not. */
function isPlain(token: CST.Token): boolean {
  const key = isBlock(token) ? token.items.at(-1)?.key : undefined;
  return isBlock(token) && !(key?.type === 'scalar' && key.source === '<<');
}
