/** Short lines of all pages: one sentence or 120 characters per line, six lines per paragraph, 200 characters per table cell. */
import { readdirSync, readFileSync } from 'node:fs';

const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.md'))
    .map(name => `docs/${name}`)
    .sort(),
];

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

it('long lines, cells and paragraphs are found', () => {
  const long = 'a'.repeat(121);
  expect(longLines(`${long} One. Two.\n\n${long} one\n\n\`\`\`\n${long} One. Two.\n\`\`\`\n`)).toEqual([`${long} One. Two.`]);
  expect(longCells(`| a | ${'b'.repeat(201)} |\n`)).toEqual([` ${'b'.repeat(201)} `]);
  expect(longParagraphs('a\nb\nc\nd\ne\nf\ng\n\n- a\n- b\n- c\n- d\n- e\n- f\n- g\n')).toHaveLength(1);
});
