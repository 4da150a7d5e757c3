/** Reader of the decoder in a host recipe. */
import { isJsonObject, type Json } from '../../../../base/json.js';
import {
  anyList,
  anyText,
  fields,
  flag,
  integer,
  type JsonReader,
  list,
  literal,
  maybe,
  number,
  text,
} from '../../../../base/json-shape.js';
import type {
  BoxesDecoder,
  Decoder,
  DetectionsDecoder,
  DistancesDecoder,
  GridDecoder,
  ModuleDecoder,
  PriorLevel,
  PriorsDecoder,
  ScoreChannel,
} from './decoder.js';

const activation = literal('none', 'sigmoid');
const anyActivation = literal('none', 'sigmoid', 'softmax');

const scoreChannel = fields<ScoreChannel>({ channel: integer(0), power: number({ above: 0 }), activation });

const json: JsonReader<Json> = value => value ?? null;

const READERS: { readonly [K in Decoder['kind']]: JsonReader<Extract<Decoder, { readonly kind: K }>> } = {
  grid: fields<GridDecoder>({
    kind: literal('grid'),
    output: text(),
    boxes: fields<GridDecoder['boxes']>({ channel: integer(0), form: literal('exp', 'bounded', 'center', 'corners') }),
    strides: anyList(integer(1)),
    objectness: maybe(scoreChannel),
    classes: scoreChannel,
  }),
  distances: fields<DistancesDecoder>({
    kind: literal('distances'),
    levels: list(fields<DistancesDecoder['levels'][number]>({ stride: integer(1), scores: text(), distances: text() })),
    bins: integer(1),
    activation,
  }),
  priors: fields<PriorsDecoder>({
    kind: literal('priors'),
    scores: text(),
    boxes: text(),
    activation: anyActivation,
    background: flag(),
    variances: list(number({ above: 0 }), { length: 2 }),
    levels: list(fields<PriorLevel>({ columns: integer(1), rows: integer(1), sizes: list(list(number({ above: 0 }), { length: 2 })) })),
  }),
  boxes: fields<BoxesDecoder>({
    kind: literal('boxes'),
    scores: text(),
    boxes: text(),
    form: literal('corners', 'center'),
    unit: literal('pixels', 'fractions'),
    activation: anyActivation,
    background: flag(),
  }),
  detections: fields<DetectionsDecoder>({
    kind: literal('detections'),
    scores: text(),
    boxes: text(),
    classes: text(),
    firstClass: integer(0),
    corners: literal('exclusive', 'inclusive'),
    masks: maybe(fields<NonNullable<DetectionsDecoder['masks']>>({ output: text(), threshold: number({ min: 0, max: 1 }) })),
  }),
  module: fields<ModuleDecoder>({
    kind: literal('module'),
    name: text(),
    source: anyText(),
    outputs: list(text()),
    options: json,
  }),
};

const KINDS = Object.keys(READERS) as Decoder['kind'][];
const kind = literal<Decoder['kind']>(...KINDS);

export const decoderReader: JsonReader<Decoder> = (value, path, problems) => {
  const named = isJsonObject(value) ? value.kind : undefined;
  const found = KINDS.find(one => one === named);
  if (found !== undefined) return READERS[found](value, path, problems);
  kind(named, path === '' ? 'kind' : `${path}.kind`, problems);
  return undefined;
};
