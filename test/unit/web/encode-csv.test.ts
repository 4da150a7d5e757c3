import { encodeCsv } from '../../../src/web/page/results/encode-csv.js';

describe('comma-separated values', () => {
  it.each([
    ['plain', 'plain'],
    ['a,b', '"a,b"'],
    ['say "a"', '"say ""a"""'],
    ['two\nlines', '"two\nlines"'],
    ['two\r\nlines', '"two\r\nlines"'],
    ['', ''],
    [undefined, ''],
    [-0.5, '-0.5'],
    [1e-7, '1e-7'],
  ])('write %j as a cell that RFC 4180 reads back', (value, expected) => expect(encodeCsv([['a', value]])).toBe(`a,${expected}\r\n`));

  it.each(['=1+1', '+1+1', '-1+1', '@SUM(A1)', '\t=1', '\r=1', '\n=1', '-2a'])('keep a spreadsheet from computing %j', text =>
    expect(encodeCsv([[text]]).replace(/^"/, '')).toMatch(/^'/));

  it.each(['＝1+1', '＋1', '－1', '＠A1'])('keep a spreadsheet from computing %j, of full width', text =>
    expect(encodeCsv([[text]])).toBe(`\ufeff'${text}\r\n`));

  it.each(['-5', '-1.25'])('leave the negative number %s, which may be the id of an image, as it is', text =>
    expect(encodeCsv([[text]])).toBe(`${text}\r\n`));

  it('begin with a byte order mark for other characters than those of ASCII, and with none for others', () => {
    expect(encodeCsv([['name'], ['Straße']])).toBe('\ufeffname\r\nStraße\r\n');
    expect(encodeCsv([['name'], ['road']])).toBe('name\r\nroad\r\n');
  });
});
