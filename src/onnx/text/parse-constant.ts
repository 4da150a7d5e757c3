/** Parser for the elements of a constant in the text form of a model. */
import type { DType } from '../../tensor/dtype.js';
import { TensorError } from '../../tensor/tensor-error.js';
import type { Constant, Dim } from '../ir/model.js';
import { parseElements } from './elements.js';
import type { TokenReader } from './tokens.js';

/** Parses "{1, 2.5, inf}" for a type with known dims. @throws OnnxError `model-text`. */
export function parseConstantBody(tokens: TokenReader, dtype: DType, dims: readonly Dim[]): Constant {
  const at = tokens.peek();
  const sizes = dims.map(dim => {
    if (typeof dim !== 'number') throw tokens.error('the dims of a constant must be numbers', at);
    return dim;
  });
  tokens.expect('{');
  const texts = tokens.list('}', () => {
    const token = tokens.take();
    const fits = dtype === 'string' ? token.kind === 'string' : isNumeric(token.kind, token.text);
    if (!fits) throw tokens.unexpected(`an element of type ${dtype}`, token);
    return token.text;
  });
  try {
    return parseElements(dtype, sizes, texts);
  } catch (error) {
    if (error instanceof TensorError) throw tokens.error(error.message, at);
    throw error;
  }
}

function isNumeric(kind: string, text: string): boolean {
  return kind === 'int' || kind === 'float' || text === 'true' || text === 'false';
}
