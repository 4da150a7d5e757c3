/** The stage before a compiled model that takes rules for it, and the requests that name no such model. */
import type { JsonObject } from '../../../src/base/json.js';
import { parseEdit } from '../../../src/web/edit/parse-edit.js';
import { findRewrite, getCompiledModel } from '../../../src/web/project/compiled-model.js';

type Plan = Parameters<typeof findRewrite>[0];

const from = (stage: string, port = 'model') => ({ kind: 'artifact', stage, port });
const stage = (id: string, plugin: string, inputs: object) => [
  id,
  {
    id,
    group: id.split('@')[0],
    plugin: { name: plugin },
    inputs,
    inputPorts: { model: { kind: 'onnx-model' }, sketches: { kind: 'sketches' } },
  },
];

/** As the default pipeline: heads on tiles are made from the quantized heads, and one head is not rewritten. */
const plan = {
  stages: new Map([
    stage('simplify', 'simplify', { model: { kind: 'source', path: 'm.onnx' } }),
    stage('rewrite@backbone', 'rewrite', { model: from('simplify') }),
    stage('rewrite@mask_head', 'rewrite', { model: from('simplify') }),
    stage('quantize@backbone', 'quantize', { model: from('rewrite@backbone'), sketches: from('calibrate', 'sketches') }),
    stage('quantize@box_head', 'quantize', { model: from('simplify') }),
    stage('quantize@mask_head', 'quantize', { model: from('rewrite@mask_head') }),
    stage('tiles', 'tile-rois', {
      models: { kind: 'record', entries: { box_head: from('quantize@box_head'), mask_head: from('quantize@mask_head') } },
    }),
    stage('join', 'command', { model: from('rewrite@backbone'), models: { kind: 'record', entries: { b: from('rewrite@mask_head') } } }),
    stage('compile', 'compile', {
      models: {
        kind: 'record',
        entries: {
          backbone: from('quantize@backbone'),
          box_head: from('quantize@box_head'),
          mask_head_tiles: from('tiles', 'mask_head_tiles'),
          box_head_tiles: from('tiles', 'box_head_tiles'),
          both: from('join', 'both'),
          given: { kind: 'source', path: 'x.onnx' },
        },
      },
    }),
    stage('compile-one', 'compile', { model: from('quantize@backbone') }),
  ] as never),
} as unknown as Plan;

describe('rules for a compiled model', () => {
  it.each([
    ['compile', 'backbone', 'rewrite@backbone'],
    ['compile', 'mask_head_tiles', 'rewrite@mask_head'],
    ['compile-one', 'model', 'rewrite@backbone'],
  ])('of %s, %s, go to %s', (id, model, expected) => {
    expect(findRewrite(plan, getCompiledModel(plan, id, model).ref)).toEqual({ kind: 'stage', stage: expected });
  });

  it.each([
    ['box_head', { kind: 'new' }],
    ['box_head_tiles', { kind: 'new' }],
    ['given', { kind: 'new' }],
    ['both', { kind: 'none', reason: expect.stringMatching(/several stages.*rewrite@backbone, rewrite@mask_head/) }],
  ])('of %s have no stage to go to: %j', (model, place) => {
    expect(findRewrite(plan, getCompiledModel(plan, 'compile', model).ref)).toEqual(place);
  });

  it.each([
    ['quantize@backbone', 'model'],
    ['none', 'model'],
    ['compile', 'model'],
    ['compile', 'constructor'],
    ['compile-one', 'backbone'],
  ])('%s has no compiled model %s', (id, model) => {
    expect(() => getCompiledModel(plan, id, model)).toThrow(expect.objectContaining({ code: 'ui-bad-request' }));
  });

  const edit: JsonObject = { kind: 'rule', stage: 'compile', model: 'backbone', rule: 'maxpool-1x1', form: '3x3' };

  it('are read as an edit of the stage that takes them', () => {
    expect(parseEdit(edit, plan)).toEqual({ edit, place: { group: 'rewrite', item: 'backbone' } });
  });

  it('are read as an edit that adds a stage where none takes them', () => {
    expect(parseEdit({ ...edit, model: 'box_head' }, plan).place).toEqual({
      group: 'compile',
      item: undefined,
      added: { group: 'compile', input: ['models', 'box_head'], model: 'box_head' },
    });
  });

  it.each([
    [{ rule: 'constructor' }, 'ui-bad-request'],
    [{ rule: 'no-such-rule' }, 'ui-bad-request'],
    [{ model: 'both' }, 'ui-edit-place'],
    [{ stage: 'rewrite@backbone' }, 'ui-bad-request'],
  ])('with %j are refused as %s', (change, code) => {
    expect(() => parseEdit({ ...edit, ...change }, plan)).toThrow(expect.objectContaining({ code }));
  });
});
