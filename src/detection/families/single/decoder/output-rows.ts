/** Reads an output as rows of channels, independent of its layout. */
import { formatShape } from '../../../../tensor/shape.js';
import type { Tensor } from '../../../../tensor/tensor.js';
import type { PartValuesByName } from '../../../detector/part-runner.js';
import { DetectionError } from '../../../error/detection-error.js';

/** The element of row r and channel c is `data[r · rowStride + c · channelStride]`. */
export interface OutputRows {
  readonly data: Float32Array;
  readonly rows: number;
  readonly channels: number;
  readonly rowStride: number;
  readonly channelStride: number;
}

/** @throws DetectionError `part-values` where the output is missing. */
export function getOutput(values: PartValuesByName, name: string): Tensor<'float32'> {
  const tensor = values[name];
  if (tensor !== undefined) return tensor;
  throw new DetectionError(
    'part-values',
    `the decoder reads output "${name}", but the model has ${Object.keys(values).join(', ') || 'no outputs'}`,
  );
}

/**
 * Reads an output [1, rows, channels], [1, channels, rows], the same without the first dim, or [1, channels, height, width], with exactly `channels` channels.
 * @param rows the number of rows, where it is known.
 * @throws DetectionError `decoder-shape`.
 */
export function readRows(values: PartValuesByName, name: string, channels: number, rows?: number): OutputRows {
  const { dims, data } = getOutput(values, name);
  const whole = dims.length === 2 ? [1, ...dims] : dims;
  const found = whole[0] === 1 ? findLayout(whole, channels, rows) : undefined;
  if (found !== undefined) return { data, channels, ...found };
  const expected = rows === undefined ? 'rows' : String(rows);
  throw new DetectionError(
    'decoder-shape',
    `output "${name}" is ${formatShape(dims)}; the decoder expects [1, ${expected}, ${channels}], [1, ${channels}, ${expected}] or [1, ${channels}, height, width]`,
    { help: 'compare `categories`, channels and strides of the decoder with the outputs of the model (`tanren onnx inspect`)' },
  );
}

type Layout = Pick<OutputRows, 'rows' | 'rowStride' | 'channelStride'>;

function findLayout(dims: readonly number[], channels: number, rows: number | undefined): Layout | undefined {
  const [, first = 0, second = 0, third = 0] = dims;
  const fits = (count: number): boolean => rows === undefined || rows === count;
  if (dims.length === 3 && second === channels && fits(first)) return { rows: first, rowStride: channels, channelStride: 1 };
  if (dims.length === 3 && first === channels && fits(second)) return { rows: second, rowStride: 1, channelStride: second };
  const area = second * third;
  if (dims.length === 4 && first === channels && fits(area)) return { rows: area, rowStride: 1, channelStride: area };
  return undefined;
}

/** The output, after a check of its dims. @throws DetectionError `decoder-shape`, `part-values`. */
export function checkDims(values: PartValuesByName, name: string, dims: readonly (number | 'any')[]): Tensor<'float32'> {
  const tensor = getOutput(values, name);
  const fits = tensor.dims.length === dims.length && dims.every((dim, axis) => dim === 'any' || dim === tensor.dims[axis]);
  if (fits) return tensor;
  throw new DetectionError('decoder-shape', `output "${name}" is ${formatShape(tensor.dims)}; the decoder expects [${dims.join(', ')}]`, {
    help: 'compare the settings of the decoder with the outputs of the model (`tanren onnx inspect`)',
  });
}
