/** Clears the positions between tiles: a Mul with a mask of ones and zeros, in a quantized graph as DQ → Mul → Q with the scale and zero point of the value. */
import { getDefined } from '../../base/invariant.js';
import type { DType } from '../../tensor/dtype.js';
import { addInput } from '../ir/edit.js';
import type { Node, ValueId } from '../ir/model.js';
import { OnnxError } from '../ir/onnx-error.js';
import { makeNumbers } from '../rewrite/make-numbers.js';
import { type Canvas, type CanvasValue, canvasDims } from './canvas.js';
import { readConstant } from './node-facts.js';
import { findPair, redirect, type TileEditor } from './tile-editor.js';
import type { Pair } from './tile-facts.js';

/** full: a constant of the value's size. broadcast: a constant with one channel. input: an input of the value's size, which the host fills. */
export type MaskForm = 'full' | 'broadcast' | 'input';

/** 64 · 2⁻⁶ is exactly one. 128 · 2⁻⁷ does not fit into int8, and its neighbor 127 · 2⁻⁷ changes results. */
const ONE_AS_INTEGER = 64;
const MASK_SCALE = 2 ** -6;

const HIGHEST: Partial<Readonly<Record<DType, number>>> = { int8: 127, uint8: 255, int16: 32767, uint16: 65535 };

export interface GapClearer {
  /** Makes every reader of `value` read it with cleared gaps. */
  clear(value: ValueId, canvas: Canvas): void;
  /** Masks that the host feeds. */
  readonly inputs: readonly CanvasValue[];
}

export function makeGapClearer(editor: TileEditor, grid: Pair<number>, form: MaskForm): GapClearer {
  const { graph } = editor;
  const masks = new Map<string, ValueId>();
  const inputs: CanvasValue[] = [];

  const memo = (key: string, make: () => ValueId): ValueId => {
    const known = masks.get(key) ?? make();
    masks.set(key, known);
    return known;
  };
  /** The mask as float: an initializer or an input. */
  const floatMask = (canvas: Canvas): ValueId =>
    memo(`float ${JSON.stringify(canvas)}`, () => {
      if (form !== 'input') return editor.constant('tile_mask', maskOf(canvas, grid, 'float32', 0, 1));
      const value = addInput(editor.model, graph, freshInput(editor, inputs.length), {
        kind: 'tensor',
        dtype: 'float32',
        dims: canvasDims(canvas, grid),
      });
      inputs.push({ name: value.name, ...canvas });
      return value.id;
    });
  const quantizedMask = (canvas: Canvas, { quantize, dequantize }: { readonly quantize: Node; readonly dequantize: Node }): ValueId => {
    const { dtype, zero } = integersOf(editor, dequantize);
    return memo(`${quantize.domain} ${dtype} ${zero} ${JSON.stringify(canvas)}`, () => {
      const scale = editor.constant('tile_mask_scale', makeNumbers('float32', [], [MASK_SCALE]));
      const zeroPoint = editor.constant('tile_mask_zero_point', makeNumbers(dtype, [], [zero]));
      const integers =
        form === 'input'
          ? editor.node('tile_mask_QuantizeLinear', {
              opType: 'QuantizeLinear',
              domain: quantize.domain,
              inputs: [floatMask(canvas), scale, zeroPoint],
            })
          : editor.constant('tile_mask_quantized', maskOf(canvas, grid, dtype, zero, ONE_AS_INTEGER));
      return editor.node('tile_mask_DequantizeLinear', {
        opType: 'DequantizeLinear',
        domain: dequantize.domain,
        inputs: [integers, scale, zeroPoint],
      });
    });
  };

  return {
    inputs,
    clear(value, canvas) {
      const own = form === 'broadcast' ? { ...canvas, channels: 1 } : canvas;
      const name = editor.nameOf(value);
      const pair = findPair(graph, value);
      const mask = pair === undefined ? floatMask(own) : quantizedMask(own, pair);
      const product = editor.node(`${name}_cleared`, { opType: 'Mul', inputs: [value, mask] });
      const clean =
        pair === undefined
          ? product
          : editor.copy(
              pair.dequantize,
              editor.copy(pair.quantize, product, `${name}_cleared_QuantizeLinear`),
              `${name}_cleared_DequantizeLinear`,
            );
      redirect(graph, value, clean, [product]);
    },
  };
}

function freshInput({ graph }: TileEditor, index: number): string {
  const taken = new Set([...graph.values.values()].map(({ name }) => name));
  let number = index;
  while (taken.has(`tile_mask_${number}`)) number++;
  return `tile_mask_${number}`;
}

/** The integer type of a DequantizeLinear, and the zero point of its mask: that of the value where one fits above it. */
function integersOf({ graph }: TileEditor, { inputs }: Node): { readonly dtype: DType; readonly zero: number } {
  const zeroPoint = inputs[2] === undefined ? undefined : getDefined(graph.values.get(inputs[2]), 'zero point').constant;
  const dtype = zeroPoint?.dtype ?? 'uint8';
  const highest = HIGHEST[dtype];
  if (highest === undefined) {
    throw new OnnxError('tiles-refused', `the gaps of a quantized value are cleared in 8-bit or 16-bit integers; this one is ${dtype}`);
  }
  const [zero = 0] = readConstant(zeroPoint) ?? [];
  return { dtype, zero: zero + ONE_AS_INTEGER <= highest ? zero : 0 };
}

/** `zero` everywhere, plus `one` inside the tiles. */
function maskOf(canvas: Canvas, grid: Pair<number>, dtype: DType, zero: number, one: number) {
  const dims = canvasDims(canvas, grid);
  const [, channels, height, width] = dims;
  const { tile, pitch } = canvas;
  const plane = Array.from({ length: height * width }, (_, at) => {
    const [y, x] = [Math.floor(at / width), at % width];
    return y % pitch[0] < tile[0] && x % pitch[1] < tile[1] ? zero + one : zero;
  });
  const once = makeNumbers(dtype, [1, 1, height, width], plane);
  if (once.dtype === 'string') throw new OnnxError('tiles-refused', 'a mask is not text');
  const bytes = new Uint8Array(channels * once.bytes.byteLength);
  for (let channel = 0; channel < channels; channel++) bytes.set(once.bytes, channel * once.bytes.byteLength);
  return { dtype: once.dtype, dims, bytes };
}
