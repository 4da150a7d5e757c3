/** Sums of products over windows and rows, in integers: the definition of Conv, ConvTranspose, Gemm and MatMul. */
import { findInts, getInt, getString } from '../../../onnx/ir/attribute.js';
import type { Node } from '../../../onnx/ir/model.js';
import { countElements, type Shape } from '../../../tensor/shape.js';

/** Row-major integers or exact numbers. */
export interface Values {
  readonly dims: Shape;
  readonly data: Int32Array | Float64Array;
}

export interface Window {
  readonly kernel: readonly [number, number];
  readonly strides: readonly [number, number];
  readonly dilations: readonly [number, number];
  /** Top, left, bottom, right. */
  readonly pads: readonly [number, number, number, number];
}

/** The window of a 2-D operator; undefined for other ranks and for `auto_pad`. */
export function findWindow(node: Node, kernel: readonly number[]): Window | undefined {
  if (getString(node, 'auto_pad', 'NOTSET') !== 'NOTSET') return undefined;
  const [height, width, ...more] = kernel;
  if (height === undefined || width === undefined || more.length > 0) return undefined;
  const [top = 0, left = 0, bottom = 0, right = 0] = findInts(node, 'pads') ?? [];
  const pair = ([a = 1, b = 1]: readonly number[] = []): readonly [number, number] => [a, b];
  return {
    kernel: [height, width],
    strides: pair(findInts(node, 'strides')),
    dilations: pair(findInts(node, 'dilations')),
    pads: [top, left, bottom, right],
  };
}

/** Height and width of the output. */
export function windowOutput(
  { kernel, strides, dilations, pads }: Window,
  [height, width]: readonly [number, number],
): readonly [number, number] {
  const along = (size: number, axis: 0 | 1): number =>
    Math.floor((size + pads[axis] + pads[(axis + 2) as 2 | 3] - dilations[axis] * (kernel[axis] - 1) - 1) / strides[axis]) + 1;
  return [along(height, 0), along(width, 1)];
}

/** Computes the sums of a convolution. Products and sums are doubles: exact for integers below 2⁵³. */
export type SumConv = (x: Values, w: Values, window: Window, group: number) => Values;

/** Input [N, C, H, W] and weight [M, C/group, kh, kw], both minus their zero points; padding is 0. */
export const sumConv: SumConv = (x, w, window, group) => {
  const [batch = 0, channels = 0, height = 0, width = 0] = x.dims;
  const [outputs = 0, depth = 0] = w.dims;
  const [outHeight, outWidth] = windowOutput(window, [height, width]);
  const { kernel, strides, dilations, pads } = window;
  const data = new Float64Array(batch * outputs * outHeight * outWidth);
  let at = 0;
  for (let n = 0; n < batch; n++)
    for (let m = 0; m < outputs; m++) {
      const first = n * channels + Math.floor(m / (outputs / group)) * depth;
      for (let oy = 0; oy < outHeight; oy++)
        for (let ox = 0; ox < outWidth; ox++) {
          let sum = 0;
          for (let c = 0; c < depth; c++)
            for (let ky = 0; ky < kernel[0]; ky++) {
              const y = oy * strides[0] - pads[0] + ky * dilations[0];
              if (y < 0 || y >= height) continue;
              for (let kx = 0; kx < kernel[1]; kx++) {
                const column = ox * strides[1] - pads[1] + kx * dilations[1];
                if (column < 0 || column >= width) continue;
                const input = x.data[((first + c) * height + y) * width + column] as number;
                sum += input * (w.data[((m * depth + c) * kernel[0] + ky) * kernel[1] + kx] as number);
              }
            }
          data[at++] = sum;
        }
    }
  return { dims: [batch, outputs, outHeight, outWidth], data };
};

/** Input [N, C, H, W] and weight [C, M/group, kh, kw]. Undefined with `output_padding` or `output_shape`. */
export function sumConvTranspose(node: Node, x: Values, w: Values): Values | undefined {
  const window = findWindow(node, w.dims.slice(2));
  const padding = findInts(node, 'output_padding') ?? [];
  if (window === undefined || padding.some(one => one !== 0) || node.attributes.has('output_shape')) return undefined;
  const group = getInt(node, 'group', 1);
  const [batch = 0, channels = 0, height = 0, width = 0] = x.dims;
  const each = w.dims[1] ?? 0;
  const { kernel, strides, dilations, pads } = window;
  const outHeight = (height - 1) * strides[0] + dilations[0] * (kernel[0] - 1) + 1 - pads[0] - pads[2];
  const outWidth = (width - 1) * strides[1] + dilations[1] * (kernel[1] - 1) + 1 - pads[1] - pads[3];
  const dims = [batch, each * group, outHeight, outWidth];
  const data = new Float64Array(countElements(dims));
  for (let n = 0; n < batch; n++)
    for (let c = 0; c < channels; c++) {
      const first = n * each * group + Math.floor(c / (channels / group)) * each;
      for (let y = 0; y < height; y++)
        for (let column = 0; column < width; column++) {
          const input = x.data[((n * channels + c) * height + y) * width + column] as number;
          for (let m = 0; m < each; m++)
            for (let ky = 0; ky < kernel[0]; ky++) {
              const oy = y * strides[0] + ky * dilations[0] - pads[0];
              if (oy < 0 || oy >= outHeight) continue;
              for (let kx = 0; kx < kernel[1]; kx++) {
                const ox = column * strides[1] + kx * dilations[1] - pads[1];
                if (ox < 0 || ox >= outWidth) continue;
                const to = ((first + m) * outHeight + oy) * outWidth + ox;
                data[to] = (data[to] as number) + input * (w.data[((c * each + m) * kernel[0] + ky) * kernel[1] + kx] as number);
              }
            }
        }
    }
  return { dims, data };
}

/** The matrix product of Gemm's A and B, transposed as the node says. Undefined if alpha or beta is not 1. */
export function sumGemm(node: Node, a: Values, b: Values): Values {
  const [rows, inner] = getInt(node, 'transA', 0) === 0 ? [a.dims[0] ?? 0, a.dims[1] ?? 0] : [a.dims[1] ?? 0, a.dims[0] ?? 0];
  const columns = getInt(node, 'transB', 0) === 0 ? (b.dims[1] ?? 0) : (b.dims[0] ?? 0);
  const [ai, ak] = getInt(node, 'transA', 0) === 0 ? [inner, 1] : [1, rows];
  const [bk, bj] = getInt(node, 'transB', 0) === 0 ? [columns, 1] : [1, inner];
  const data = new Float64Array(rows * columns);
  for (let i = 0; i < rows; i++)
    for (let j = 0; j < columns; j++) {
      let sum = 0;
      for (let k = 0; k < inner; k++) sum += (a.data[i * ai + k * ak] as number) * (b.data[k * bk + j * bj] as number);
      data[i * columns + j] = sum;
    }
  return { dims: [rows, columns], data };
}

/** MatMul of stacks [..., M, K] and [K, N], or of two equal stacks. Undefined for other shapes. */
export function sumMatMul(a: Values, b: Values): Values | undefined {
  const [rank, other] = [a.dims.length, b.dims.length];
  if (rank < 2 || other < 2) return undefined;
  const stack = a.dims.slice(0, -2);
  const isShared = other === 2;
  if (!isShared && (other !== rank || stack.some((dim, axis) => dim !== b.dims[axis]))) return undefined;
  const [rows = 0, inner = 0] = a.dims.slice(-2);
  const columns = b.dims.at(-1) ?? 0;
  const data = new Float64Array(countElements(stack) * rows * columns);
  for (let s = 0, at = 0; s < countElements(stack); s++)
    for (let i = 0; i < rows; i++)
      for (let j = 0; j < columns; j++) {
        let sum = 0;
        for (let k = 0; k < inner; k++)
          sum += (a.data[(s * rows + i) * inner + k] as number) * (b.data[((isShared ? 0 : s) * inner + k) * columns + j] as number);
        data[at++] = sum;
      }
  return { dims: [...stack, rows, columns], data };
}
