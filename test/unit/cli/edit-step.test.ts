/** Tests of the form of edit steps. */

import { formatJsonProblems, list, readJsonShape } from '../../../src/base/json/json-shape.js';
import type { Json } from '../../../src/base/json.js';
import { stepReader } from '../../../src/cli/commands/onnx/edit-step.js';

const read = (...steps: Json[]) => readJsonShape(list(stepReader), steps);
const ALPHA = { name: 'alpha', type: 'float', value: 0.1 };

describe('edit steps', () => {
  it.each<[Json]>([
    [{ select: { op: 'LeakyRelu' }, setAttribute: ALPHA }],
    [{ select: 'a', matches: 'any', deleteAttribute: 'strides' }],
    [{ select: 'a', setConstant: { input: 1, dtype: 'int8', values: [] } }],
    [{ constant: 'k*', setConstant: { dtype: 'float32', dims: [], values: [1] } }],
    [
      {
        insert: { on: 'x', op: 'Clip', attributes: [ALPHA], others: ['low', null, { dtype: 'int8', values: [6] }], readers: { op: 'Add' } },
      },
    ],
    [{ remove: { select: 'a', input: 0 } }],
    [{ swap: { inputs: [], outputs: ['y'], with: 'other.onnx' } }],
  ])('%j is one', step => {
    expect(read(step)).toEqual({ kind: 'ok', value: [step] });
  });

  it.each<[Json, readonly string[]]>([
    [
      {},
      [
        '[0]: should have exactly one of setAttribute, deleteAttribute, setConstant, renameValue, renameNode, insert, remove, addOutput, dropOutput, dropInput, swap',
      ],
    ],
    [{ setAttribut: ALPHA }, ['[0].setAttribut: is not a known field; did you mean "setAttribute"?']],
    [{ select: 'a', constant: 'k', deleteAttribute: 'x' }, ['[0]: set either select (a node) or constant (an initializer)']],
    [{ constant: 'k', deleteAttribute: 'x' }, ['[0]: constant (an initializer) requires setConstant']],
    [{ select: 'a', setConstant: { dtype: 'int8', values: [1] } }, ['[0]: setConstant of a node needs the index of the input']],
    [{ select: 'a', addOutput: 'x' }, ['[0]: "addOutput" takes no select, constant or matches']],
    [{ select: 4, deleteAttribute: 'x' }, ['[0].select: should be the name of a node, or an object such as {op: Conv}, it is 4']],
    [{ select: { producer: { op: 4 } }, deleteAttribute: 'x' }, ['[0].select.producer.op: should be text, it is 4']],
    [
      { remove: { select: { consumer: { kind: 'x' } } } },
      ['[0].remove.select.consumer.kind: should be one of name, op, output, input, producer, consumer, inputs, attributes'],
    ],
    [
      { select: 'a', setAttribute: { ...ALPHA, value: true } },
      ['[0].setAttribute.value: should be a number, a text, or a list of these, it is true'],
    ],
    [
      { select: 'a', setAttribute: { ...ALPHA, value: [1, null] } },
      ['[0].setAttribute.value[1]: should be a number or a text, it is null'],
    ],
  ])('%j is none', (step, problems) => {
    const result = read(step);
    expect(result.kind === 'problems' && formatJsonProblems(result.problems)).toEqual(problems);
  });
});
