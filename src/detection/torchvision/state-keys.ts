/** Does a state dict hold exactly the tensors of the network that it describes? The list of expected tensors, and the check. */
import type { Json } from '../../base/json.js';
import { formatShape } from '../../tensor/shape.js';
import { DetectionError } from '../detection-error.js';
import {
  type BlockNorm,
  BODY_STAGES,
  linearIndex,
  type MaskRcnnStructure,
  PYRAMID_LEVELS,
  type Size,
  type StateDict,
} from './structure.js';

export interface ExpectedTensor {
  readonly key: string;
  readonly dims: readonly Size[];
  /** Parameters are trained and counted; 'counter' is num_batches_tracked, which may be missing and is not used. */
  readonly role: 'parameter' | 'buffer' | 'counter';
}

/** Every tensor of the network, in module order. `roiSize`: the side of the box head's input, from the config. */
export function expectedTensors(structure: MaskRcnnStructure, roiSize: number): ExpectedTensor[] {
  return [
    ...bodyTensors(structure),
    ...pyramidTensors(structure),
    ...rpnTensors(structure),
    ...boxTensors(structure, roiSize),
    ...maskTensors(structure),
  ];
}

function* bodyTensors({ stem, stages, bodyNorm }: MaskRcnnStructure): Generator<ExpectedTensor> {
  const body = 'backbone.body';
  const role = bodyNorm === 'frozen' ? 'buffer' : 'parameter';
  yield* weight(`${body}.conv1`, [stem, 3, 7, 7]);
  yield* norm(`${body}.bn1`, stem, role);
  let before = stem;
  for (const [index, { blocks, width, channels }] of stages.entries()) {
    for (let block = 0; block < blocks; block++) {
      const at = `${body}.layer${index + 1}.${block}`;
      yield* weight(`${at}.conv1`, [width, before, 1, 1]);
      yield* norm(`${at}.bn1`, width, role);
      yield* weight(`${at}.conv2`, [width, width, 3, 3]);
      yield* norm(`${at}.bn2`, width, role);
      yield* weight(`${at}.conv3`, [channels, width, 1, 1]);
      yield* norm(`${at}.bn3`, channels, role);
      if (block === 0) {
        yield* weight(`${at}.downsample.0`, [channels, before, 1, 1]);
        yield* norm(`${at}.downsample.1`, channels, role);
      }
      before = channels;
    }
  }
}

function* pyramidTensors({ pyramid, stages }: MaskRcnnStructure): Generator<ExpectedTensor> {
  const { channels } = pyramid;
  for (let level = 0; level < PYRAMID_LEVELS; level++) {
    const lateral = stages[BODY_STAGES - PYRAMID_LEVELS + level]?.channels;
    yield* convBlock(`backbone.fpn.inner_blocks.${level}`, [channels, lateral, 1, 1], pyramid.norm);
    yield* convBlock(`backbone.fpn.layer_blocks.${level}`, [channels, channels, 3, 3], pyramid.norm);
  }
}

function* rpnTensors({ rpn, pyramid: { channels } }: MaskRcnnStructure): Generator<ExpectedTensor> {
  for (let n = 0; n < rpn.depth; n++) yield* convBlock(`rpn.head.conv.${n}`, [channels, channels, 3, 3], 'none');
  yield* withBias('rpn.head.cls_logits', [rpn.anchorsPerCell, channels, 1, 1]);
  yield* withBias('rpn.head.bbox_pred', [times(rpn.anchorsPerCell, 4), channels, 1, 1]);
}

function* boxTensors({ boxHead, pyramid, classes }: MaskRcnnStructure, roiSize: number): Generator<ExpectedTensor> {
  const at = 'roi_heads.box_head';
  let channels = pyramid.channels;
  for (const [n, out] of boxHead.convs.entries()) {
    yield* convBlock(`${at}.${n}`, [out, channels, 3, 3], boxHead.norm);
    channels = out;
  }
  let features = times(channels, roiSize * roiSize);
  for (const [n, out] of boxHead.hidden.entries()) {
    yield* withBias(boxHead.form === 'two-fc' ? `${at}.fc${6 + n}` : `${at}.${linearIndex(boxHead.convs.length, n)}`, [out, features]);
    features = out;
  }
  yield* withBias('roi_heads.box_predictor.cls_score', [classes, features]);
  yield* withBias('roi_heads.box_predictor.bbox_pred', [times(classes, 4), features]);
}

function* maskTensors({ maskHead, pyramid, classes }: MaskRcnnStructure): Generator<ExpectedTensor> {
  let channels = pyramid.channels;
  for (const [n, out] of maskHead.convs.entries()) {
    yield* convBlock(`roi_heads.mask_head.${n}`, [out, channels, 3, 3], maskHead.norm);
    channels = out;
  }
  const { hidden } = maskHead;
  yield { key: 'roi_heads.mask_predictor.conv5_mask.weight', dims: [channels, hidden, 2, 2], role: 'parameter' };
  yield { key: 'roi_heads.mask_predictor.conv5_mask.bias', dims: [hidden], role: 'parameter' };
  yield* withBias('roi_heads.mask_predictor.mask_fcn_logits', [classes, hidden, 1, 1]);
}

/** A convolution followed by its norm, or with a bias where there is none. */
function* convBlock(at: string, dims: readonly Size[], kind: BlockNorm): Generator<ExpectedTensor> {
  if (kind === 'none') return yield* withBias(`${at}.0`, dims);
  yield* weight(`${at}.0`, dims);
  yield* norm(`${at}.1`, dims[0], 'parameter');
}

function* weight(module: string, dims: readonly Size[]): Generator<ExpectedTensor> {
  yield { key: `${module}.weight`, dims, role: 'parameter' };
}

function* withBias(module: string, dims: readonly Size[]): Generator<ExpectedTensor> {
  yield* weight(module, dims);
  yield { key: `${module}.bias`, dims: [dims[0]], role: 'parameter' };
}

function* norm(module: string, channels: Size, role: 'parameter' | 'buffer'): Generator<ExpectedTensor> {
  yield { key: `${module}.weight`, dims: [channels], role };
  yield { key: `${module}.bias`, dims: [channels], role };
  yield { key: `${module}.running_mean`, dims: [channels], role: 'buffer' };
  yield { key: `${module}.running_var`, dims: [channels], role: 'buffer' };
  yield { key: `${module}.num_batches_tracked`, dims: [], role: 'counter' };
}

function times(size: Size, factor: number): Size {
  return size === undefined ? undefined : size * factor;
}

/** How many of each kind of problem a message shows; details hold all. */
const SHOWN = 10;

/**
 * Asserts that `state` holds every expected tensor with its shape as floating-point numbers, and no other.
 * @throws DetectionError `checkpoint-mismatch` with every missing key, extra key, wrong shape and wrong dtype.
 */
export function checkStateDict(state: StateDict, expected: readonly ExpectedTensor[]): void {
  const known = new Set(expected.map(({ key }) => key));
  const missing = expected.filter(({ key, role }) => role !== 'counter' && !state.has(key)).map(({ key }) => key);
  const extra = [...state.keys()].filter(key => !known.has(key));
  const wrong = expected.flatMap(one => mismatchOf(one, state));
  if (missing.length + extra.length + wrong.length === 0) return;
  const parts = [show('missing', missing), show('unexpected', extra), show('wrong', wrong)].filter(part => part !== '');
  const details: Json = { missing, unexpected: extra, wrong };
  const help = helpFor(state, expected);
  throw new DetectionError('checkpoint-mismatch', `the checkpoint is not a torchvision Mask R-CNN: ${parts.join('; ')}`, { details, help });
}

function mismatchOf({ key, dims, role }: ExpectedTensor, state: StateDict): string[] {
  const tensor = state.get(key);
  if (tensor === undefined || role === 'counter') return [];
  const fits = tensor.dims.length === dims.length && dims.every((dim, axis) => dim === undefined || dim === tensor.dims[axis]);
  const shape = fits ? [] : [`${key} has shape ${formatShape(tensor.dims)}, expected ${formatShape(dims.map(dim => dim ?? '?'))}`];
  return tensor.dtype === 'float32' ? shape : [...shape, `${key} is ${tensor.dtype}, expected float32`];
}

function show(what: string, items: readonly string[]): string {
  if (items.length === 0) return '';
  const rest = items.length > SHOWN ? `, and ${items.length - SHOWN} more` : '';
  return `${items.length} ${what}: ${items.slice(0, SHOWN).join(', ')}${rest}`;
}

function helpFor(state: StateDict, expected: readonly ExpectedTensor[]): string {
  const wanted = expected[0]?.key ?? '';
  const prefixed = [...state.keys()].find(key => key.endsWith(`.${wanted}`));
  return prefixed === undefined
    ? 'export takes the state dict of maskrcnn_resnet50_fpn_v2 or maskrcnn_resnet50_fpn, of any width and depth'
    : `every key starts with "${prefixed.slice(0, -wanted.length)}": save the state dict of the inner module, without this prefix`;
}

/** Trained numbers per part, by the keys that belong to it. */
export function countParameters(expected: readonly ExpectedTensor[]): ParameterCounts {
  const counts = { backbone: 0, box_head: 0, mask_head: 0 };
  for (const { key, dims, role } of expected) {
    if (role === 'parameter') counts[partOf(key)] += dims.reduce((product: number, dim) => product * (dim ?? 0), 1);
  }
  return { ...counts, total: counts.backbone + counts.box_head + counts.mask_head };
}

export interface ParameterCounts {
  /** Body, pyramid and RPN head. */
  readonly backbone: number;
  readonly box_head: number;
  readonly mask_head: number;
  readonly total: number;
}

function partOf(key: string): 'backbone' | 'box_head' | 'mask_head' {
  if (key.startsWith('roi_heads.box')) return 'box_head';
  return key.startsWith('roi_heads.mask') ? 'mask_head' : 'backbone';
}
