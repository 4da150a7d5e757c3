/** Text that is broken at spaces to a width. */
import { wrapBehind, wrapText } from '../../../../src/cli/terminal/wrap-text.js';

it('counts columns as a terminal does: none for styles, two for Chinese characters', () => {
  expect(wrapText('\u001b[33mone two\u001b[39m three', 13)).toEqual(['\u001b[33mone two\u001b[39m three']);
  expect(wrapText('鍛錬 鍛錬 a', 9)).toEqual(['鍛錬 鍛錬', 'a']);
});

it('puts further lines below the text, behind the name', () => {
  expect(wrapBehind('stage', 'would run after one, two, three: never built', 34)).toEqual([
    'stage  would run after one, two,',
    '       three: never built',
  ]);
});

it.each([Number.POSITIVE_INFINITY, 28])('leaves one line at a width of %d', width => {
  expect(wrapBehind('stage', 'would run after one, two, three: never built', width)).toEqual([
    'stage  would run after one, two, three: never built',
  ]);
});
