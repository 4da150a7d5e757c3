/** Which names does a pattern mean? `*` stands for any characters, everything else for itself; after `re:` comes a regular expression. */
import { OnnxError } from '../ir/onnx-error.js';

const EXPRESSION = 're:';

/** @throws OnnxError `bad-selector` where what follows `re:` is no regular expression. */
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
    throw new OnnxError('bad-selector', `"${source}" is no regular expression: ${cause instanceof Error ? cause.message : cause}`, {
      cause,
      help: 'after `re:` comes a regular expression as JavaScript has them, such as re:^fpn\\.[0-3]$',
    });
  }
}

/** Whether the pieces stand in `text` in order, the first at its start and the last at its end. No regular expression: no pattern is slow. */
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
