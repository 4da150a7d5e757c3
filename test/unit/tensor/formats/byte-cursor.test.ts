/** Tests of sequential reading of bytes. */
import { ByteCursor } from '../../../../src/tensor/formats/byte-cursor.js';

it('Latin-1 text has one character per byte, of the same number', () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, value) => value);
  const text = new ByteCursor(bytes, 'all bytes').takeLatin1(256);
  expect(Array.from(text, character => character.charCodeAt(0))).toEqual([...bytes]);
});
