/** Shape inference of losses, string operators, and scalar results of sequences and optionals. */
import { findInts, getString } from '../../ir/attribute.js';
import type { Dim } from '../../ir/model.js';
import { type InferFunction, type InferTable, known } from '../context/node-context.js';
import { broadcastInputs } from './elementwise.js';

/** The shape of the target without reduction, else a scalar; SoftmaxCrossEntropyLoss also returns log probabilities. */
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

/** Stop words are removed, so the last dim is not known if there are any. */
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
