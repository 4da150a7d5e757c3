/** Reader of the preprocessing in a host recipe. All fields with a default in the schema are present. */
import type { Json } from '../../base/json.js';
import { either, fields, flag, integer, type JsonReader, list, literal, maybe, number } from '../../base/json-shape.js';
import type { Preprocessing } from './preprocessing.js';

const byte = number({ min: 0, max: 255 });
const isNumber = (value: Json | undefined): value is number => typeof value === 'number';

export const preprocessingReader: JsonReader<Preprocessing> = fields<Preprocessing>({
  colors: literal('rgb', 'bgr'),
  range: literal('0..1', '0..255'),
  mean: list(number(), { length: 3 }),
  std: list(number({ above: 0 }), { length: 3 }),
  resize: literal('none', 'stretch', 'crop', 'pad', 'shorter'),
  shorterSide: maybe(integer(1)),
  longerSide: maybe(integer(1)),
  sizes: literal('down', 'nearest'),
  place: literal('corner', 'center'),
  fill: either(isNumber, byte, list(byte, { length: 3 })),
  filter: literal('linear', 'cubic', 'area'),
  antialias: flag(),
  rounding: literal('none', 'bytes'),
});
