/** Short lines of all Markdown: one sentence or 120 characters per line, six lines per paragraph, 200 characters per table cell. */
import { readdirSync, readFileSync } from 'node:fs';

/** Below these folders no text is written by hand. */
const GENERATED = /^(node_modules|dist|artifacts|cache|\.git)\b/;

const PAGES = readdirSync('.', { withFileTypes: true })
  .filter(({ name }) => !GENERATED.test(name))
  .flatMap(entry =>
    entry.isDirectory() ? readdirSync(entry.name, { recursive: true, encoding: 'utf8' }).map(name => `${entry.name}/${name}`) : entry.name,
  )
  .filter(name => name.endsWith('.md'))
  .sort();

/** The page without code blocks. */
function proseOf(page: string): string {
  return page.replace(/^```[\s\S]*?^```$/gm, '');
}

function longLines(page: string): string[] {
  // Neither the number and title of a list item nor an initial ends a sentence.
  const isSentence = (line: string): boolean =>
    !/(?<!\b[A-Z]|\bal)[.!?] +\S/.test(line.replace(/^\s*(\d+\.|-)?\s*(\*\*[^*]+\*\*)?/, '').replace(/\([^)]*\)|`[^`]*`/g, ''));
  return proseOf(page)
    .split('\n')
    .filter(line => !line.startsWith('|') && line.length > 120 && !isSentence(line));
}

function longCells(page: string): string[] {
  const rows = proseOf(page)
    .split('\n')
    .filter(line => line.startsWith('|'));
  return rows.flatMap(row => row.split(/(?<!\\)\|/)).filter(cell => cell.trim().length > 200);
}

function longParagraphs(page: string): string[] {
  const isProse = (line: string): boolean => line !== '' && !/^[|#]/.test(line);
  // An item of a list is a paragraph.
  return proseOf(page)
    .split(/\n\n+|\n(?= *(?:-|\d+\.) )/)
    .filter(paragraph => paragraph.split('\n').filter(isProse).length > 6);
}

describe.each(PAGES)('%s', path => {
  const page = readFileSync(path, 'utf8');

  it('has one sentence or at most 120 characters per line', () => expect(longLines(page)).toEqual([]));

  it('has no table cell over 200 characters', () => expect(longCells(page)).toEqual([]));

  it('has no paragraph over six lines', () => expect(longParagraphs(page)).toEqual([]));
});

it('no entry of CHANGELOG.md occurs twice, as after a merge that keeps both sides', () => {
  const entries = readFileSync('CHANGELOG.md', 'utf8').split(/\n(?=- )/);
  const normal = entries.map(entry => entry.replace(/\s+/g, ' ').trim());
  expect(normal.filter((entry, index) => normal.indexOf(entry) !== index)).toEqual([]);
});

it('long lines, cells and paragraphs are found', () => {
  const long = 'a'.repeat(121);
  expect(longLines(`${long} One. Two.\n\n${long} one\n\n\`\`\`\n${long} One. Two.\n\`\`\`\n`)).toEqual([`${long} One. Two.`]);
  expect(longCells(`| a | ${'b'.repeat(201)} |\n`)).toEqual([` ${'b'.repeat(201)} `]);
  expect(longParagraphs('a\nb\nc\nd\ne\nf\ng\n\n- a\n- b\n- c\n- d\n- e\n- f\n- g\n')).toHaveLength(1);
});
