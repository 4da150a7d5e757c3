/** Conversion of the finished items of a large block collection during parsing of the rest of the file. The syntax tree takes ten times the memory of its values. */
import { type CST, type Document, isMap, isSeq, type Node } from 'yaml';

/** Number of items that are composed together. Smaller collections are left to the composer. */
const BATCH = 256;

/** Takes the first items of the collection at `offset`, which is nested in `depth` collections. */
export type TakeItems = (items: Node, offset: number, depth: number) => void;

export interface Reducer {
  /** Must be called after every piece of text that the parser has consumed. */
  observe(source: string, stack: readonly CST.Token[]): void;
}

type Block = CST.BlockMap | CST.BlockSequence;

/**
 * Items that were taken are removed from the syntax tree.
 * Nothing is taken after the first anchor, alias, tag or directive of the file, because their meaning depends on the rest of the document.
 * @param compose composes one value as a document.
 */
export function createReducer(take: TakeItems, compose: (value: CST.Token, offset: number) => Document): Reducer {
  let isOpen = true;
  return {
    observe(source, stack) {
      if (!isOpen) return;
      if (MEANS_MORE.test(source)) isOpen = false;
      const depth = stack.length - 1;
      const block = stack[depth];
      if (!isOpen || !isBlock(block) || block.items.length < BATCH + PARSED || !stack.slice(1, depth).every(isPlain)) return;
      const done = { ...block, items: block.items.slice(0, -PARSED) } as Block;
      const { contents, errors, warnings } = compose(done, block.offset);
      // Errors and warnings are reported when the whole document is composed.
      isOpen = errors.length + warnings.length === 0 && (isMap(contents) || isSeq(contents));
      if (!isOpen) return;
      take(contents as Node, block.offset, depth - 1);
      block.items.splice(0, done.items.length);
    },
  };
}

/** Number of last items of a collection that stay, because the parser may still add to them. */
const PARSED = 2;

/** Matches an anchor, an alias, a tag or a directive as the lexer emits them. */
const MEANS_MORE = /^[&*!%]/;

function isBlock(token: CST.Token | undefined): token is Block {
  return token?.type === 'block-map' || token?.type === 'block-seq';
}

/** Whether the content of the last item means the same as in any other place. Merged content does not. */
function isPlain(token: CST.Token): boolean {
  const key = isBlock(token) ? token.items.at(-1)?.key : undefined;
  return isBlock(token) && !(key?.type === 'scalar' && key.source === '<<');
}
