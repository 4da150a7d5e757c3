/** Conversion steps from Upsample and early versions of Resize to the current Resize. */
import { decodeRawTensor, encodeRawTensor } from '../../tensor/raw-tensor.js';
import { makeTensor } from '../../tensor/tensor.js';
import { floats, getFloat, getString, string } from '../ir/attribute.js';
import { addConstant, connect, constantAt, type Step, type StepPlace } from './step.js';

/** Upsample 7: one scale per axis instead of height_scale and width_scale. */
export const upsampleScalesPerAxis: Step = ({ node }) => {
  const [height, width] = [getFloat(node, 'height_scale', Number.NaN), getFloat(node, 'width_scale', Number.NaN)];
  if (Number.isNaN(height) || Number.isNaN(width)) return 'its height_scale or width_scale is missing';
  node.attributes.delete('height_scale');
  node.attributes.delete('width_scale');
  node.attributes.set('scales', floats([1, 1, height, width]));
  return undefined;
};

/** Upsample 9: the scales become an input. */
export const upsampleScalesToInput: Step = place => {
  const scales = place.node.attributes.get('scales');
  if (scales?.kind !== 'floats') return 'its scales are missing';
  place.node.attributes.delete('scales');
  connect(
    place,
    1,
    addConstant(place, 'scales', encodeRawTensor(makeTensor('float32', [scales.value.length], Float32Array.from(scales.value)))),
  );
  return undefined;
};

/** From 10 on, Upsample is Resize. */
export const upsampleToResize: Step = ({ node }) => {
  node.opType = 'Resize';
  return undefined;
};

/**
 * Resize 11: the implicit behavior of 10 becomes attributes. The inputs were X and scales. Nearest-neighbor enlargement took the element at ⌊x / scale⌋; the
 * rounding for reduction was not specified.
 */
export const resizeStatesCoordinates: Step = place => {
  const { node } = place;
  const mode = getString(node, 'mode', 'nearest');
  if (mode === 'nearest' && !enlarges(place))
    return 'operator set 10 does not specify the nearest neighbor unless all scales are known to be at least 1';
  const [x, scales] = node.inputs;
  node.attributes.set('coordinate_transformation_mode', string('asymmetric'));
  if (mode === 'nearest') node.attributes.set('nearest_mode', string('floor'));
  const roi = addConstant(place, 'roi', encodeRawTensor(makeTensor('float32', [0], new Float32Array(0))));
  node.inputs = [x, roi, scales];
  return undefined;
};

function enlarges(place: StepPlace): boolean {
  const scales = constantAt(place, 1);
  if (scales?.dtype !== 'float32') return false;
  return [...(decodeRawTensor(scales).data as Float32Array)].every(scale => scale >= 1);
}

/** Resize 13: with sizes, the scales are absent; before, they were empty. */
export const resizeDropsEmptyScales: Step = place => {
  const { node } = place;
  if (node.inputs[3] === undefined) return undefined;
  const scales = constantAt(place, 2);
  if (scales?.dims[0] === 0) node.inputs[2] = undefined;
  return undefined;
};
