/** Name patterns: `*` matches any characters; after `re:` follows a regular expression. */
import { OnnxError } from '../ir/onnx-error.js';

const EXPRESSION = 're:';

/** @throws OnnxError `bad-selector` if the text after `re:` is not a regular expression. */
export function makeNameMatcher(pattern: string): (name: string) => boolean {
  if (pattern.startsWith(EXPRESSION)) {
    const expression = parseExpression(pattern.slice(EXPRESSION.length));
    return name => expression.test(name);
  }
  if (!pattern.includes('*')) return name => name === pattern;
  const pieces = pattern.split('*');
  return name => matchesPieces(name, pieces);
}

function parseExpression(source: string): RegExp {
  try {
    return new RegExp(source, 'u');
  } catch (cause) {
    throw new OnnxError('bad-selector', `"${source}" is not a regular expression: ${cause instanceof Error ? cause.message : cause}`, {
      cause,
      help: 'after `re:`, write a JavaScript regular expression, for example re:^fpn\\.[0-3]$',
    });
  }
}

/** Whether `text` contains the pieces in order, the first at its start and the last at its end. It avoids regular expressions, so that no pattern is slow. */
function matchesPieces(text: string, pieces: readonly string[]): boolean {
  const [first = '', ...rest] = pieces;
  const last = rest.pop() ?? '';
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false;
  let at = first.length;
  for (const piece of rest) {
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return at <= text.length - last.length;
}
