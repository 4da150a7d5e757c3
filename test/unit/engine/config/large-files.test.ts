/** Large YAML collections, which are converted part by part while the file is read, have the values, places and mistakes of small ones. */
import { parseYaml } from '../../../../src/engine/config/parse-yaml.js';
import { makeDiagnosticList, sortDiagnostics } from '../../../../src/engine/model/diagnostic.js';

const items = (count: number, make: (index: number) => string): string => Array.from({ length: count }, (_, index) => make(index)).join('');

function parse(text: string) {
  const diagnostics = makeDiagnosticList();
  const root = parseYaml('a.yaml', text, diagnostics);
  return { root, diagnostics: sortDiagnostics(diagnostics) };
}

/** The same text whose first value has an anchor, so that nothing is converted before the whole document is composed. Both heads have one length. */
const inParts = (body: string) => parse(`first:    0\n${body}`);
const atOnce = (body: string) => parse(`first: &a 0\n${body}`);

describe('a large collection', () => {
  it.each<[string, string]>([
    ['of flow maps', `stages:\n${items(1000, i => `  s${i}: {uses: make, with: {list: [${i}, "x"], map: {a: {b: ${i}}}}} # note\n`)}`],
    [
      'of block maps',
      `stages:\n${items(1000, i => `  s${i}:\n    uses: make\n    # note\n    with:\n      size: ${i}\n      text: |\n        lines\n\n`)}`,
    ],
    ['of block lists', `list:\n${items(1000, i => `  - - ${i}\n    - {a: ${i}}\n  - a: 1\n    b: [2]\n`)}`],
    ['of lists at the indent of their key', `lists:\n${items(1000, i => `  l${i}:\n  - ${i}\n  - b\n`)}`],
    [
      'with scalars and empty values between',
      `map:\n${items(1000, i => `  a${i}: {x: 1}\n  b${i}:\n  c${i}: text ${i}\n  ? d${i}\n  : {y: 1}\n`)}`,
    ],
    ['inside of another', `outer:\n${items(3, k => `  k${k}:\n${items(700, i => `    s${i}: {v: ${i}}\n`)}`)}after: {z: 1}\n`],
    ['that merges a map written in place', `map:\n  <<:\n${items(700, i => `    m${i}: {v: [${i}]}\n`)}  own: 1\n`],
    [
      'with an anchor and aliases near its end',
      `map:\n${items(900, i => `  s${i}: {v: ${i}}\n`)}  x: &late {w: 1}\n  y: *late\n  z: {<<: *late}\n`,
    ],
    ['with mistakes in its parts', `map:\n${items(900, i => `  s${i}: {v: ${i === 300 ? '12345678901234567890' : i}, v: 2}\n`)}`],
    ['with a part that is no YAML', `map:\n${items(900, i => `  s${i}: {v: ${i === 300 ? '"a" "b"' : i}}\n`)}`],
    ['with nested maps on one line', `map:\n${items(900, i => (i === 300 ? `  s${i}: a: {b: 1}\n` : `  s${i}: {v: 1}\n`))}`],
    ['of plain values', `map:\n${items(900, i => `  # about ${i}\n  s${i}: ${i}\n\n`)}  # the end\nlist:\n${items(900, i => `- ${i}\n`)}`],
    ['with a key that stands there twice, far apart', `map:\n${items(900, i => `  s${i % 800}: ${i}\n`)}`],
    ['with tags', `map:\n${items(900, i => `  s${i}: {v: !!str ${i}}\n`)}`],
  ])('%s is the same in parts and at once', (_what, body) => {
    const [parts, whole] = [inParts(body), atOnce(body)];
    expect(JSON.stringify(parts.diagnostics)).toBe(JSON.stringify(whole.diagnostics));
    const show = (root: unknown): string =>
      JSON.stringify(root, (_key, value: unknown) => (value instanceof Map ? [...value].filter(([name]) => name !== 'first') : value));
    expect(show(parts.root)).toBe(show(whole.root));
    expect(parts.root === undefined).toBe(
      parts.diagnostics.some(({ code, message }) => code === 'yaml-syntax' && !message.startsWith('duplicate')),
    );
  });

  it('that nests too deep in a part is refused', () => {
    const deep = `${'['.repeat(100)}${']'.repeat(100)}`;
    const { root, diagnostics } = inParts(`map:\n${items(600, i => `  s${i}: ${i === 500 ? deep : '[1]'}\n`)}`);
    expect(root).toBeUndefined();
    expect(diagnostics.map(({ code }) => code)).toEqual(['yaml-too-large']);
  });
});
