/** Which cells of a saved report become links. */
import { kindOfName } from '../../../src/web/page/saved/kind-of-name.js';

describe('a cell of a report', () => {
  it.each([
    ['Image', false, 'image'],
    ['Stage', false, 'stage'],
    ['Value', true, 'value'],
    ['Most is live at', true, 'value'],
    // A count "2132" is no name, though a model may have a value of this name.
    ['Bytes', false, undefined],
    // The plugin "compile" is not the stage of this name.
    ['Plugin', false, undefined],
    ['Key', true, undefined],
    ['constructor', false, undefined],
    [undefined, false, undefined],
  ])('under %j, all code: %j, is a name of: %j', (head, written, expected) => {
    expect(kindOfName(head, written)).toBe(expected);
  });
});
