/** Tests of node selectors. */

import { formatJsonProblems, readJsonShape } from '../../../../src/base/json/json-shape.js';
import type { Json } from '../../../../src/base/json.js';
import { parseSelectorJson, readSelector } from '../../../../src/onnx/selection/read-selector.js';
import { selectNodes } from '../../../../src/onnx/selection/select-nodes.js';
import { smallGraph } from '../../quant/small-graph.js';

function graph() {
  const small = smallGraph();
  small.input('x', [1]);
  small.node('Relu x -> a/relu');
  small.node('Sigmoid a/relu -> a/gate');
  small.node('Relu a/gate -> b/relu');
  return small.model.graph;
}

describe('node selectors', () => {
  it.each([
    ['Relu_a/relu', ['Relu_a/relu']],
    ['*relu', ['Relu_a/relu', 'Relu_b/relu']],
    ['*_a/*', ['Relu_a/relu', 'Sigmoid_a/gate']],
    [{ op: 'Relu' }, ['Relu_a/relu', 'Relu_b/relu']],
    [{ op: 'Relu', output: 'b*' }, ['Relu_b/relu']],
    ['*', ['Relu_a/relu', 'Sigmoid_a/gate', 'Relu_b/relu']],
  ])('%j means %j', (selector, names) => {
    expect(selectNodes(graph(), selector).map(node => node.name)).toEqual(names);
  });

  it.each([
    ['Relu_a/rely', 'did you mean "Relu_a/relu" or "Relu_b/relu"?'],
    [{ op: 'Sigmoyd' }, 'did you mean "Sigmoid"?'],
    [{ op: 'Sigmoid', output: 'b/*' }, undefined],
    ['Relu*Relu_a/relu', undefined],
  ])('%j matches nothing, which is an error', (selector, help) => {
    expect(() => selectNodes(graph(), selector)).toThrow(
      expect.objectContaining({ code: 'selector-matches-nothing', ...(help && { help }) }),
    );
  });
});

describe('selectors by neighbors of a node', () => {
  it.each([
    ['re:^Relu_[ab]', ['Relu_a/relu', 'Relu_b/relu']],
    [{ op: 'Relu', producer: { op: 'Sigmoid', input: 'a/*' } }, ['Relu_b/relu']],
    [{ consumer: { op: 'Sigmoid', consumer: 'Relu' } }, ['Relu_a/relu']],
    [{ op: 're:^(Relu|Sigmoid)$', inputs: [{ op: 'Relu' }] }, ['Sigmoid_a/gate']],
    [{ op: 'Relu', inputs: [null] }, ['Relu_a/relu', 'Relu_b/relu']],
  ])('%j means %j', (selector, names) => {
    expect(selectNodes(graph(), selector).map(node => node.name)).toEqual(names);
  });

  it('that almost match report the nearest nodes and their differences', () => {
    expect(() => selectNodes(graph(), { op: 'Relu', producer: 'Sigmoid', attributes: { axis: 1 } })).toThrow(
      expect.objectContaining({
        code: 'selector-matches-nothing',
        help: expect.stringContaining('nearest: Relu "Relu_b/relu" (its axis is absent)'),
      }),
    );
  });

  it('whose text is no regular expression are an error', () => {
    expect(() => selectNodes(graph(), 're:(')).toThrow(expect.objectContaining({ code: 'bad-selector' }));
  });
});

/** `{producer: {producer: … {op: Relu}}}`, with `levels` selectors in each other. */
function nest(levels: number): Json {
  return levels === 0 ? { op: 'Relu' } : { producer: nest(levels - 1) };
}

describe('the reader of selectors', () => {
  it.each<[Json, readonly string[]]>([
    ['', ['should not be empty']],
    [3, ['should be the name of a node, or an object such as {op: Conv}, it is 3']],
    [{}, ['should not be empty']],
    [{ kind: 'Relu', op: 7 }, ['kind: is not a known field', 'op: should be text, it is 7']],
    [{ producer: { kind: 'Relu' } }, ['producer.kind: should be one of name, op, output, input, producer, consumer, inputs, attributes']],
    [{ producer: { consumer: { op: 3 } } }, ['producer.consumer.op: should be text, it is 3']],
    [{ inputs: [null, { attributes: { axis: true } }] }, ['inputs[1].attributes.axis: should be a list, it is true']],
    [nest(9), [`${'producer.'.repeat(8)}producer: is nested deeper than 8`]],
  ])('finds the problems of %j', (selector, problems) => {
    const result = readJsonShape(readSelector, selector);
    expect(result.kind === 'problems' && formatJsonProblems(result.problems)).toEqual(problems);
    expect(() => parseSelectorJson(selector)).toThrow(
      expect.objectContaining({ code: 'bad-selector', message: `a selector is invalid: ${problems.join('; ')}` }),
    );
  });

  it.each<[Json]>([
    ['*relu'],
    [{ op: 'Relu', attributes: { alpha: 0.1, mode: 'nearest', pads: [1, 1] } }],
    [{ producer: 'Conv', consumer: { op: 'Add', inputs: ['a', null, { producer: { name: 'b' } }] } }],
    [nest(8)],
  ])('keeps %j as it is', selector => {
    expect(readJsonShape(readSelector, selector)).toEqual({ kind: 'ok', value: selector });
  });

  it('checks selectors that a program made, before it compares anything', () => {
    expect(() => selectNodes(graph(), { producer: { kind: 'Relu' } as object })).toThrow(expect.objectContaining({ code: 'bad-selector' }));
  });
});
