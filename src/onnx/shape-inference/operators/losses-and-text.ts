/** Which shape do losses give, which sequences and optionals, and which operators on strings? */
import { findInts, getString } from '../../ir/attribute.js';
import type { Dim } from '../../ir/model.js';
import { type InferFunction, type InferTable, known } from '../context/node-context.js';
import { broadcastInputs } from './elementwise.js';

/** Of the target's shape without a reduction, else a scalar; SoftmaxCrossEntropyLoss gives the log probabilities too. */
const loss: InferFunction = c => {
  const value = getString(c.node, 'reduction', 'mean') === 'none' ? c.dims(1) : [];
  return c.node.outputs.map((_, index) => known(c.dtype(0), index === 0 ? value : c.dims(0)));
};

const ngrams: InferFunction = c => {
  const x = c.dims(0);
  const indices = findInts(c.node, 'ngram_indexes');
  const width = indices === undefined || indices.length === 0 ? undefined : Math.max(...indices) + 1;
  return [known('float32', x && [...x.slice(0, -1), width])];
};

const stringSplit: InferFunction = c => [known('string', c.dims(0) && [...(c.dims(0) ?? []), undefined]), known('int64', c.dims(0))];

/** Words may be left out: of [C] or [1, C], C is not known. */
const stringNormalizer: InferFunction = c => {
  const x = c.dims(0);
  const kept = !c.node.attributes.has('stopwords');
  return [
    known(
      'string',
      x?.map((dim, axis): Dim => (axis === x.length - 1 && !kept ? undefined : dim)),
    ),
  ];
};

export const LOSSES_AND_TEXT: InferTable = {
  NegativeLogLikelihoodLoss: loss,
  SoftmaxCrossEntropyLoss: loss,
  TfIdfVectorizer: ngrams,
  StringSplit: stringSplit,
  StringNormalizer: stringNormalizer,
  StringConcat: c => [known('string', broadcastInputs(c, [0, 1]))],
  RegexFullMatch: c => [known('bool', c.dims(0))],
  OptionalHasElement: () => [known('bool', [])],
  SequenceLength: () => [known('int64', [])],
};
