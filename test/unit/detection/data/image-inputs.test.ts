/** Which input of a model takes an image, in which form, and what the other inputs take. */

import { makeBatchFeeds, makeImageFeeds } from '../../../../src/detection/data/image-feeds.js';
import { findImageInputs } from '../../../../src/detection/data/image-inputs.js';
import type { RgbImage } from '../../../../src/detection/image/decode-image.js';
import { PREPROCESSING_SCHEMA, type Preprocessing } from '../../../../src/detection/image/preprocessing-schema.js';
import { ints } from '../../../../src/onnx/ir/attribute.js';
import type { Dim, Model } from '../../../../src/onnx/ir/model.js';
import type { DType } from '../../../../src/tensor/dtype.js';
import { failureOf } from '../../../support/error-code.js';
import { ajvOf } from '../../../support/params-schema.js';
import { randomConstant, type SmallNode, smallModel } from '../../../support/small-model.js';

type Inputs = Readonly<Record<string, readonly [DType, readonly Dim[]]>>;

/** Each input has a reader; what it computes does not matter. */
const modelOf = (inputs: Inputs, nodes: readonly SmallNode[] = []): Model =>
  smallModel({
    inputs,
    constants: { w: randomConstant([2, 3, 3, 3], 7), gray: randomConstant([2, 1, 3, 3], 7) },
    nodes: [...nodes, ...Object.keys(inputs).map(name => ({ op: 'Identity', in: [name], out: [`${name}-out`] }))],
    outputs: Object.keys(inputs).map(name => `${name}-out`),
  });

const formOf = (inputs: Inputs, stated: Parameters<typeof findImageInputs>[1] = {}, nodes: readonly SmallNode[] = []) =>
  findImageInputs(modelOf(inputs, nodes), stated).inputs.image;

const FREE: Inputs = { x: ['float32', ['n', undefined, undefined, undefined]] };
const toFirst: SmallNode = { op: 'Transpose', in: ['x'], out: ['t'], attributes: { perm: ints([0, 3, 1, 2]) } };

describe('the input of an image', () => {
  it.each<[string, readonly [DType, readonly Dim[]], object]>([
    ['bytes with channels first', ['uint8', [1, 3, 8, 6]], { dtype: 'uint8', layout: 'channels-first', channels: 3, height: 8, width: 6 }],
    ['bytes with channels last', ['uint8', [1, 8, 6, 3]], { layout: 'channels-last', channels: 3, height: 8, width: 6 }],
    ['free sides with channels last', ['float32', ['n', 'h', 'w', 3]], { layout: 'channels-last', height: null, width: null }],
    ['gray with channels first', ['float32', [1, 1, 8, 6]], { layout: 'channels-first', channels: 1, height: 8, width: 6 }],
    ['gray with channels last', ['int64', [1, 8, 6, 1]], { dtype: 'int64', layout: 'channels-last', channels: 1, height: 8, width: 6 }],
    ['an image of three columns', ['float32', [1, 3, 8, 3]], { layout: 'channels-first', height: 8, width: 3 }],
    ['four images at once', ['float32', [4, 3, 8, 6]], { batch: 4, layout: 'channels-first', height: 8, width: 6 }],
    ['no batch, channels last', ['uint8', [8, 6, 3]], { layout: 'channels-last', batch: 'none', height: 8, width: 6 }],
  ])('%s', (_, input, expected) => {
    expect(formOf({ x: input })).toMatchObject({ name: 'x', form: expected });
  });

  it('takes the layout that is stated, or else that of the first convolution, where sizes do not tell', () => {
    expect(formOf({ x: ['float32', [1, 3, 8, 3]] }, { layout: 'channels-last' }).form).toMatchObject({ height: 3, width: 8 });
    expect(formOf(FREE, {}, [{ op: 'Conv', in: ['x', 'w'], out: ['c'] }]).form).toMatchObject({ layout: 'channels-first', channels: 3 });
    const last = [toFirst, { op: 'Conv', in: ['t', 'gray'], out: ['c'] }];
    expect(formOf(FREE, {}, last).form).toMatchObject({ layout: 'channels-last', channels: 1 });
  });

  it('takes an image whose name an object inherits', () => {
    const odd: Inputs = Object.fromEntries<Inputs[string]>([
      ['constructor', ['float32', [1, 3, 8, 6]]],
      ['iou', ['float32', [1]]],
    ]);
    expect(formOf(odd, { inputs: { iou: 1 } }).name).toBe('constructor');
  });

  it('prefers three channels to one, and takes the one that is named', () => {
    const two: Inputs = { mask: ['float32', [1, 1, 8, 6]], x: ['float32', [1, 3, 8, 6]] };
    expect(formOf(two, { inputs: { mask: 0 } }).name).toBe('x');
    expect(formOf(two, { image: 'mask', inputs: { x: 0 } }).name).toBe('mask');
  });

  it.each<[string, Inputs, Parameters<typeof findImageInputs>[1], string]>([
    ['no input is an image', { x: ['float32', [1, 16]] }, {}, 'no input takes an image'],
    ['the batch has no images', { x: ['float32', [0, 3, 8, 6]] }, {}, 'no input takes an image'],
    [
      'another image has another batch',
      { x: ['float32', [2, 3, 8, 6]], y: ['float32', [1, 3, 8, 6]] },
      { inputs: { y: 'image' } },
      'has not the form of 2 images',
    ],
    [
      'an input that images share takes a scale of each',
      { x: ['float32', [2, 3, 8, 6]], a: ['float32', [1]] },
      { inputs: { a: 'scale-y' } },
      'no place for scale-y of each of 2 images',
    ],
    ['a signal has one channel', { x: ['float32', [1, 1, 16_000]] }, {}, 'no input takes an image'],
    ['a free input has no convolution', FREE, {}, 'no input takes an image'],
    ['a number has no value', { x: ['float32', [1, 3, 8, 6]], iou: ['float32', [1]] }, {}, 'no value is known for input "iou"'],
    ['too few numbers are stated', { x: ['float32', [1, 3, 8, 6]], a: ['float32', [3]] }, { inputs: { a: [1, 2] } }, 'takes 3 numbers'],
    [
      'an input of numbers is called an image',
      { x: ['float32', [1, 3, 8, 6]], a: ['float32', [3]] },
      { inputs: { a: 'image' } },
      'not the form',
    ],
    ['integers take a fraction', { x: ['float32', [1, 3, 8, 6]], a: ['int64', [1]] }, { inputs: { a: 0.5 } }, 'takes integers, and 0.5'],
    ['an integer has too many bits', { x: ['float32', [1, 3, 8, 6]], a: ['int64', [1]] }, { inputs: { a: 2 ** 24 + 1 } }, 'takes integers'],
    ['an unknown input is stated', { x: ['float32', [1, 3, 8, 6]] }, { inputs: { y: 1 } }, 'names "y"'],
    ['an unknown image is stated', { x: ['float32', [1, 3, 8, 6]] }, { image: 'y' }, 'names "y"'],
  ])('says why there is none if %s', async (_, inputs, stated, message) => {
    const failure = await failureOf(async () => findImageInputs(modelOf(inputs), stated));
    expect(failure).toMatchObject({ code: 'image-input', message: expect.stringContaining(message) });
  });
});

describe('inputs besides the image', () => {
  const image: RgbImage = { height: 4, width: 8, data: new Uint8Array(96).fill(50) };
  const preprocess = ajvOf(PREPROCESSING_SCHEMA)({ resize: 'pad', place: 'center' }) as Preprocessing;
  const feed = (inputs: Inputs, stated: Preprocessing['inputs']) => {
    const found = findImageInputs(modelOf(inputs), stated === undefined ? {} : { inputs: stated });
    const { feeds } = makeImageFeeds(image, found.inputs, preprocess);
    return {
      notes: found.notes,
      feeds: Object.fromEntries(Object.entries(feeds).map(([name, one]) => [name, [one.dtype, ...one.dims]])),
      data: feeds,
    };
  };
  const x = ['float32', [1, 3, 6, 6]] as const;

  it('by their names take the size of the input and a scale of 1, as of PaddleDetection and RT-DETR', () => {
    const { notes, data } = feed(
      {
        x,
        im_shape: ['float32', ['n', 2]],
        scale_factor: ['float32', ['n', 2]],
        orig_target_sizes: ['int64', [1, 2]],
        im_info: ['float32', [1, 3]],
      },
      undefined,
    );
    expect(data.im_shape?.data).toEqual(Float32Array.of(6, 6));
    expect(data.scale_factor?.data).toEqual(Float32Array.of(1, 1));
    expect(data.orig_target_sizes?.data).toEqual(BigInt64Array.of(6n, 6n));
    expect(data.im_info?.data).toEqual(Float32Array.of(6, 6, 1));
    expect(notes).toContain('input "im_shape" takes input-height, input-width');
  });

  it('take words that are stated: sizes and scales of the original and of the image in the input', () => {
    // 8 × 4 pixels, scaled to 6 × 3 in an input of 6 × 6.
    const { data } = feed(
      { a: ['float32', [1, 8]], x },
      {
        a: ['image-height', 'image-width', 'resized-height', 'resized-width', 'input-height', 'input-width', 'scale-y', 'scale-x'],
      },
    );
    expect(Object.keys(data)).toEqual(['a', 'x']);
    expect(data.a?.data).toEqual(Float32Array.of(4, 8, 3, 6, 6, 6, 0.75, 0.75));
  });

  it('take the same image, in their own form', () => {
    expect(feed({ x, y: ['uint8', [1, 4, 4, 3]], z: ['float32', [1, 1, 6, 6]] }, { z: 'image' }).feeds).toEqual({
      x: ['float32', 1, 3, 6, 6],
      y: ['uint8', 1, 4, 4, 3],
      z: ['float32', 1, 1, 6, 6],
    });
  });

  it('that take the same image without a statement are a warning', () => {
    const inputs: Inputs = { x, y: x, z: x };
    expect(findImageInputs(modelOf(inputs), { inputs: { z: 'image' } }).warnings).toEqual([
      'input "y" is assumed to take the same image as "x"; for pairs of images, connect tensors; otherwise state it in `inputs` of `preprocess`: y: image',
    ]);
  });

  it('have a row for each image of a batch where the first size is that of the batch', () => {
    const inputs: Inputs = {
      x: ['float32', [3, 3, 6, 6]],
      scale_factor: ['float32', [3, 2]],
      a: ['float32', [3]],
      b: ['float32', [1]],
      c: ['float32', [3, 1]],
    };
    const found = findImageInputs(modelOf(inputs), {
      inputs: { scale_factor: ['scale-y', 'scale-x'], a: 'image-width', b: 7, c: [1, 2, 3] },
    });
    const small: RgbImage = { height: 3, width: 2, data: new Uint8Array(18) };
    const feeds = makeBatchFeeds([image, small], found.inputs, preprocess);
    expect(feeds.x?.dims).toEqual([3, 3, 6, 6]);
    // The third place is the first image again: 8 × 4 pixels are scaled by 0.75, 2 × 3 by 2.
    expect(feeds.scale_factor?.data).toEqual(Float32Array.of(0.75, 0.75, 2, 2, 0.75, 0.75));
    expect(feeds.a?.data).toEqual(Float32Array.of(8, 2, 8));
    expect(feeds.b?.data).toEqual(Float32Array.of(7));
    expect(feeds.c?.data).toEqual(Float32Array.of(1, 2, 3));
    const alone = makeImageFeeds(small, found.inputs, preprocess).feeds;
    expect(alone.a?.data).toEqual(Float32Array.of(2, 2, 2));
    expect(alone.x?.dims).toEqual([3, 3, 6, 6]);
  });

  it('of a later part are those that no part gives and whose value is known', () => {
    const first = modelOf({ im_shape: ['float32', [1, 2]] });
    const network = modelOf({ x, feature: ['float32', [1, 2]] });
    const { inputs } = findImageInputs(first, {}, [network]);
    expect(inputs).toMatchObject({ image: { name: 'x' }, order: ['im_shape', 'x'] });
  });
});
