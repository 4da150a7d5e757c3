/** Tests of edits and of the rewriter. */
import { ints, string } from '../../../../src/onnx/ir/attribute.js';
import type { Model } from '../../../../src/onnx/ir/model.js';
import type { Edit } from '../../../../src/onnx/rewrite/edit-schema.js';
import { newConstant, newNode, outputOf, patch } from '../../../../src/onnx/rewrite/patch.js';
import { any, op } from '../../../../src/onnx/rewrite/pattern.js';
import { rewriteModel } from '../../../../src/onnx/rewrite/rewrite-model.js';
import type { RewriteRule } from '../../../../src/onnx/rewrite/rule.js';
import { getRule } from '../../../../src/onnx/rules/target/get-rule.js';
import { failureOf } from '../../../support/error-code.js';
import { listProblems, nodesOf, operators, valueNames } from '../../../support/look-at-model.js';
import { floats, randomConstant, smallModel } from '../../../support/small-model.js';

const given = (): Model =>
  smallModel({
    inputs: { x: ['float32', [1, 3, 8, 8]] },
    constants: { w: randomConstant([4, 3, 1, 1]), k: floats([1], [2]) },
    nodes: [
      { op: 'Conv', in: ['x', 'w'], out: ['c'] },
      { op: 'MaxPool', name: 'pool', in: ['c'], out: ['p'], attributes: { kernel_shape: ints([2, 2]), strides: ints([2, 2]) } },
      { op: 'Mul', name: 'first', in: ['p', 'k'], out: ['m'] },
      { op: 'Mul', name: 'second', in: ['m', 'k'], out: ['y'] },
    ],
    outputs: ['y'],
  });

const apply = (model: Model, ...edits: Edit[]) => rewriteModel(model, { rules: [], edits, check: listProblems });

describe('edits', () => {
  it('set an attribute, and update the shapes that follow', () => {
    const model = given();
    const record = apply(model, { select: 'pool', setAttribute: { name: 'strides', type: 'ints', value: [1, 1] } });
    expect(record.edits).toEqual([{ at: 'MaxPool "pool"', what: 'attribute strides', before: '[2, 2]', after: '[1, 1]' }]);
    expect(record.changedTypes).toContainEqual({ value: 'y', before: 'float32 [1, 4, 4, 4]', after: 'float32 [1, 4, 7, 7]' });
  });

  it('set an attribute that was not there, of each type', () => {
    const model = given();
    const set = (name: string, type: 'int' | 'float' | 'floats' | 'string' | 'strings', value: number | string | number[] | string[]) =>
      apply(model, { select: 'first', setAttribute: { name, type, value } });
    set('__a', 'int', 3);
    set('__b', 'float', 0.1);
    set('__c', 'floats', [0.5]);
    set('__d', 'string', 'text');
    set('__e', 'strings', ['text']);
    const attributes = nodesOf(model)[2]?.attributes;
    expect(attributes?.get('__a')).toEqual({ kind: 'int', value: 3n });
    expect(attributes?.get('__b')).toEqual({ kind: 'float', value: Math.fround(0.1) });
    expect(attributes?.get('__c')).toEqual({ kind: 'floats', value: [0.5] });
    expect(attributes?.get('__d')).toEqual(string('text'));
    expect(attributes?.get('__e')?.kind).toBe('strings');
  });

  it('delete an attribute', () => {
    const model = given();
    apply(model, { select: { op: 'MaxPool' }, deleteAttribute: 'strides' });
    expect([...(nodesOf(model)[1]?.attributes.keys() ?? [])]).toEqual(['kernel_shape']);
  });

  it('replace an initializer for all that read it', () => {
    const model = given();
    apply(model, { constant: 'k', setConstant: { dtype: 'float32', values: [3] } });
    expect(nodesOf(model).map(node => node.inputs[1])[2]).toBe(nodesOf(model)[3]?.inputs[1]);
    expect([...model.graph.values.values()].find(value => value.name === 'k')?.constant).toEqual(floats([1], [3]));
  });

  it('replace every initializer that a pattern matches if several are allowed', () => {
    const model = given();
    const { edits } = apply(model, { constant: 're:^k', matches: 'any', setConstant: { dtype: 'float32', values: [3] } });
    expect(edits.map(({ at }) => at)).toEqual(['k']);
    expect(apply(model, { constant: 'nothing*', matches: 'any', setConstant: { dtype: 'float32', values: [3] } }).edits).toEqual([]);
  });

  it('replace the input of only one node if the initializer is shared', () => {
    const model = given();
    apply(model, { select: 'second', setConstant: { input: 1, dtype: 'float32', dims: [], values: [3] } });
    expect(valueNames(model)).toContain('k_1');
    expect(nodesOf(model)[2]?.inputs[1]).not.toBe(nodesOf(model)[3]?.inputs[1]);
  });

  it.each([
    [
      'one that several nodes match',
      { select: { op: 'Mul' }, deleteAttribute: 'a' },
      'selector-matches-several',
      'Mul "first", Mul "second"',
    ],
    ['one that no node matches', { select: 'pol', deleteAttribute: 'a' }, 'selector-matches-nothing', 'pol'],
    ['an attribute that is not there', { select: 'pool', deleteAttribute: 'stride' }, 'no-such-attribute', 'stride'],
    [
      'an initializer that is not there',
      { constant: 'q', setConstant: { dtype: 'float32', values: [1] } },
      'selector-matches-nothing',
      'q',
    ],
    [
      'several initializers where one is meant',
      { constant: '*', setConstant: { dtype: 'float32', values: [1] } },
      'selector-matches-several',
      'matches 2 initializers, expected one: w, k',
    ],
    ['a computed input', { select: 'first', setConstant: { input: 0, dtype: 'float32', values: [1] } }, 'not-constant', 'input 0'],
    [
      'a value of another type',
      { select: 'pool', setAttribute: { name: 'strides', type: 'ints', value: 2 } },
      'bad-edit',
      'expected a value of type ints, found 2',
    ],
    ['a number that does not fit', { constant: 'k', setConstant: { dtype: 'int8', values: [200] } }, 'bad-edit', '200 is not a valid int8'],
    [
      'values that do not fill the shape',
      { constant: 'k', setConstant: { dtype: 'int8', dims: [3], values: [1] } },
      'bad-edit',
      'needs 3 values',
    ],
    ['nothing selected', { deleteAttribute: 'a' }, 'bad-edit', 'needs `select`'],
    [
      'shapes that cannot be',
      { constant: 'w', setConstant: { dtype: 'float32', dims: [1, 2, 1, 1], values: [1, 1] } },
      'shape-mismatch',
      'expects 2 input channels',
    ],
  ] as const)('refuse %s', async (_, edit, code, text) => {
    const failure = await failureOf(() => apply(given(), edit));
    expect(failure.code).toBe(code);
    expect(failure.message).toContain(text);
  });

  it('apply to every match with `any`', () => {
    const model = given();
    const record = apply(model, { select: { op: 'Mul' }, matches: 'any', setAttribute: { name: '__a', type: 'int', value: 1 } });
    expect(record.edits.map(edit => edit.at)).toEqual(['Mul "first"', 'Mul "second"']);
    expect(apply(model, { select: { op: 'Nothing' }, matches: 'any', deleteAttribute: 'a' }).edits).toEqual([]);
  });

  it.each([
    [{ op: 'Mul', producer: 'MaxPool' }, 'Mul "first"'],
    [{ consumer: 'MaxPool' }, 'Conv "c"'],
    [{ input: 'm' }, 'Mul "second"'],
    [{ attributes: { kernel_shape: [2, 2] } }, 'MaxPool "pool"'],
    [{ op: 'M*', name: 's*' }, 'Mul "second"'],
  ] as const)('select %j', (select, at) => {
    const record = apply(given(), { select, setAttribute: { name: '__note', type: 'string', value: '' } });
    expect(record.edits.map(edit => edit.at)).toEqual([at]);
  });

  it('are checked after all of them', async () => {
    const failure = await failureOf(() =>
      rewriteModel(given(), {
        rules: [],
        edits: [{ select: 'first', setAttribute: { name: '__a', type: 'int', value: 1 } }],
        check: () => ['Mul "first" has an unknown attribute "a"'],
      }),
    );
    expect(failure.code).toBe('edit-breaks-graph');
  });
});

describe('the rewriter', () => {
  const badRule = (make: RewriteRule['rewrite']): RewriteRule => ({
    name: 'bad',
    proof: 'exact',
    proofText: '',
    pattern: op('MaxPool', { inputs: [any('x')] }),
    rewrite: make,
  });
  const applyRuleTo = (rule: RewriteRule, check = listProblems) => rewriteModel(given(), { rules: [{ rule }], edits: [], check });

  it('refuses a patch that changes a shape', async () => {
    const rule = badRule(match => {
      const node = newNode('Relu', { inputs: [match.value('x')] });
      return patch({ add: [node], replace: [[match.output(), outputOf(node)]] });
    });
    expect((await failureOf(() => applyRuleTo(rule))).code).toBe('patch-changes-type');
  });

  it('refuses a patch that leaves an unsound graph', async () => {
    const rule = badRule(match => {
      const node = newNode('MaxPool', { inputs: [match.value('x')], attributes: match.node.attributes });
      return patch({ add: [node], replace: [[match.output(), outputOf(node)]] });
    });
    expect((await failureOf(() => applyRuleTo(rule, () => ['a problem']))).code).toBe('patch-breaks-graph');
  });

  it('refuses a patch that reads a node it does not add', async () => {
    const rule = badRule(match => {
      const missing = newNode('Relu', { inputs: [match.value('x')] });
      const node = newNode('MaxPool', { inputs: [outputOf(missing)], attributes: match.node.attributes });
      return patch({ add: [node], replace: [[match.output(), outputOf(node)]] });
    });
    expect((await failureOf(() => applyRuleTo(rule))).code).toBe('patch-order');
  });

  it('makes a value constant, and removes nodes that only it needed', () => {
    const model = given();
    const rule = badRule(match => patch({ replace: [[match.output(), newConstant('c', randomConstant([1, 4, 4, 4]))]] }));
    rewriteModel(model, { rules: [{ rule }], edits: [], check: listProblems });
    expect(operators(model)).toEqual(['Conv', 'Mul', 'Mul']);
    expect([...model.graph.values.values()].find(value => value.name === 'p')?.constant?.dims).toEqual([1, 4, 4, 4]);
  });

  it('knows its rules and forms by name', async () => {
    expect(getRule('maxpool-1x1', 'slice').proof).toBe('exact');
    expect((await failureOf(() => getRule('maxpool', 'slice'))).code).toBe('unknown-rule');
    expect((await failureOf(() => getRule('maxpool-1x1', '2x2'))).code).toBe('unknown-form');
    expect((await failureOf(() => getRule('maxpool-1x1', undefined))).message).toContain('needs a form');
  });
});
