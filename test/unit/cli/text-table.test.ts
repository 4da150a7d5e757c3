/** Text tables and live lines by display width: wide characters take two columns, combining accents none. */
import { cut, displayWidth, padEnd, padStart } from '../../../src/cli/terminal/display-width.js';
import { makeLiveArea } from '../../../src/cli/terminal/live-area.js';
import { formatTable } from '../../../src/cli/terminal/text-table.js';
import { makeTextConsole } from '../../support/text-console.js';

it.each([
  ['abc', 3],
  ['', 0],
  ['自転車', 6],
  ['é', 1],
  ['e\u0301', 1],
  ['\u001b[31mred\u001b[0m', 3],
  ['✓ –', 3],
])('%j takes %i columns', (text, width) => expect(displayWidth(text)).toBe(width));

it('text is padded by its display width', () => {
  expect([padEnd('自', 4), padStart('自', 4), padEnd('long', 2)]).toEqual(['自  ', '  自', 'long']);
});

it('text is truncated before a character that does not fit', () => {
  expect([cut('自転車', 5), cut('abc', 2), cut('abc', 3), cut('abc', 0)]).toEqual(['自転', 'ab', 'abc', '']);
});

it('columns of numbers are right-aligned, other columns left-aligned', () => {
  expect(
    formatTable([
      ['class', 'AP', 'note'],
      ['自転車', '0.5', 'wide'],
      ['bus', '–', ''],
    ]),
  ).toEqual(['class    AP  note', '自転車  0.5  wide', 'bus       –']);
});

it('columns can be left-aligned explicitly', () => {
  expect(
    formatTable(
      [
        ['run', 'AP'],
        ['r1', '0.5'],
      ],
      'left',
    ),
  ).toEqual(['run  AP', 'r1   0.5']);
});

it('a table without rows has no lines', () => expect(formatTable([])).toEqual([]));

it('a live area is replaced, and erased at the end', () => {
  const console = makeTextConsole({ live: true, width: 6 });
  const area = makeLiveArea(console);
  area.draw(['one', 'two']);
  area.draw(['自転車']);
  expect(console.screen()).toEqual(['自転']);
  area.erase();
  expect(console.screen()).toEqual([]);
});

it('a live area writes only the lines that have changed', () => {
  const console = makeTextConsole({ live: true, width: 20 });
  const area = makeLiveArea(console);
  area.draw(['a 1 s', 'b waits', 'c 1 s', 'd waits']);
  const before = console.text().length;
  area.draw(['a 1 s', 'b waits', 'c 1 s', 'd waits']);
  expect(console.text().length).toBe(before);
  area.draw(['a 1 s', 'b 0 s', 'c 1 s', 'd']);
  expect(console.screen()).toEqual(['a 1 s', 'b 0 s', 'c 1 s', 'd']);
  expect(console.text().slice(before)).not.toMatch(/[ac] 1 s/);
  area.draw(['c 2 s']);
  expect(console.screen()).toEqual(['c 2 s']);
  area.erase();
  expect(console.screen()).toEqual([]);
});

it('a live area erases what a terminal has wrapped that became narrower', () => {
  let width = 20;
  let written = '';
  const raw = (text: string): void => {
    written += text;
  };
  const area = makeLiveArea({ raw, width: () => width, style: (_, text) => text });
  area.draw(['x'.repeat(19), 'short']);
  width = 10;
  written = '';
  area.draw(['y']);
  expect(written).toBe('\u001b[3A\u001b[0Jy\n');
});
