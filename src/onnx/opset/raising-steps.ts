/**
 * Conversion steps to newer operator sets, for every operator of the ONNX domain whose meaning or form changed between sets 6 and 21. All other new versions
 * add element types, or attributes whose default is the old behavior.
 * @see github.com/onnx/onnx, docs/Changelog.md.
 */
import { getInt, getString, string } from '../ir/attribute.js';
import {
  clipToInputs,
  dftToInputs,
  dropoutToInputs,
  integersToInput,
  padToInputs,
  sliceToInputs,
  splitNeedsCount,
  topKToInputs,
} from './attributes-to-inputs.js';
import { alignSecondInput, alignSlope, dropBroadcast } from './broadcast-steps.js';
import {
  resizeDropsEmptyScales,
  resizeStatesCoordinates,
  upsampleScalesPerAxis,
  upsampleScalesToInput,
  upsampleToResize,
} from './resize-steps.js';
import { softmaxOverOneAxis } from './softmax-step.js';
import { dropUnread, hasOutput, reject, type Step } from './step.js';

const batchNormalizationPerChannel: Step = ({ node }) => {
  if (getInt(node, 'spatial', 1) === 0) return 'it normalizes per element (spatial is 0), which no longer exists';
  node.attributes.delete('spatial');
  return undefined;
};

/** Before 7, BatchNormalization and Dropout had the attribute is_test. Training mode is not a function of the input and cannot be converted. */
const dropIsTest: Step = ({ node }) => {
  if (getInt(node, 'is_test', 0) === 0) return 'it is in training mode (is_test is 0)';
  node.attributes.delete('is_test');
  return undefined;
};

const sequenceOutputs: Step = ({ node }) => {
  if (getInt(node, 'output_sequence', 0) === 0 && node.outputs[0] !== undefined)
    return 'its output_sequence is 0 and its first output is connected';
  node.attributes.delete('output_sequence');
  return undefined;
};

const batchNormalizationAtTest: Step = place =>
  [1, 2, 3, 4].some(index => hasOutput(place, index)) ? 'it has outputs for training statistics' : undefined;

const dropoutMaskIsBool: Step = place => (dropUnread(place, 1) ? undefined : 'its mask is read, and the dtype of the mask has changed');

const roiAlignStatesCoordinates: Step = ({ node }) => {
  node.attributes.set('coordinate_transformation_mode', string('output_half_pixel'));
  return undefined;
};

const scatterIsScatterElements: Step = ({ node }) => {
  node.opType = 'ScatterElements';
  return undefined;
};

const GRID_MODES: Readonly<Record<string, string>> = { bilinear: 'linear', bicubic: 'cubic' };

const gridSampleModes: Step = ({ node }) => {
  const mode = getString(node, 'mode', 'bilinear');
  node.attributes.set('mode', string(GRID_MODES[mode] ?? mode));
  return undefined;
};

const axesToInput = integersToInput('axes', 1);

/** Operator → operator set → step. */
export const RAISING_STEPS: Readonly<Record<string, Readonly<Record<number, Step>>>> = {
  Add: { 7: alignSecondInput },
  And: { 7: alignSecondInput },
  BatchNormalization: { 7: dropIsTest, 9: batchNormalizationPerChannel, 14: batchNormalizationAtTest },
  Clip: { 11: clipToInputs },
  DFT: { 20: dftToInputs },
  Div: { 7: alignSecondInput },
  Dropout: { 7: dropIsTest, 10: dropoutMaskIsBool, 12: dropoutToInputs },
  Equal: { 7: alignSecondInput },
  GRU: { 7: sequenceOutputs },
  Gemm: { 7: dropBroadcast },
  Greater: { 7: alignSecondInput },
  GridSample: { 20: gridSampleModes },
  GroupNormalization: { 21: reject('its scale and bias are per group; from 21 on they are per channel') },
  Hardmax: { 13: softmaxOverOneAxis },
  LSTM: { 7: sequenceOutputs },
  Less: { 7: alignSecondInput },
  LogSoftmax: { 13: softmaxOverOneAxis },
  Mul: { 7: alignSecondInput },
  Or: { 7: alignSecondInput },
  PRelu: { 7: alignSlope },
  Pad: { 11: padToInputs },
  Pow: { 7: alignSecondInput },
  RNN: { 7: sequenceOutputs },
  ReduceL1: { 18: axesToInput },
  ReduceL2: { 18: axesToInput },
  ReduceLogSum: { 18: axesToInput },
  ReduceLogSumExp: { 18: axesToInput },
  ReduceMax: { 18: axesToInput },
  ReduceMean: { 18: axesToInput },
  ReduceMin: { 18: axesToInput },
  ReduceProd: { 18: axesToInput },
  ReduceSum: { 13: axesToInput },
  ReduceSumSquare: { 18: axesToInput },
  Resize: { 11: resizeStatesCoordinates, 13: resizeDropsEmptyScales },
  RoiAlign: { 16: roiAlignStatesCoordinates },
  Scan: { 9: reject('it has a batch axis, which later versions do not have') },
  Scatter: { 11: scatterIsScatterElements },
  Slice: { 10: sliceToInputs },
  Softmax: { 13: softmaxOverOneAxis },
  Split: { 13: integersToInput('split', 1), 18: splitNeedsCount },
  Squeeze: { 13: axesToInput },
  Sub: { 7: alignSecondInput },
  TopK: { 10: topKToInputs },
  Unsqueeze: { 13: axesToInput },
  Upsample: { 7: upsampleScalesPerAxis, 9: upsampleScalesToInput, 10: upsampleToResize },
  Xor: { 7: alignSecondInput },
};
