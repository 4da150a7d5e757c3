/** The tensors of a YOLACT, the unused tensors of its checkpoints, and parameter counts. */
import { darknetTensors } from '../../../network/darknet.js';
import { resNetTensors } from '../../../network/resnet.js';
import {
  countTrained,
  type ExpectedTensor,
  type NetworkFamily,
  type Size,
  type StateDict,
  times,
  withBias,
} from '../../../network/state-dict.js';
import { type HeadSpec, RESNET_PLACES, type YolactSpec } from './network-spec.js';

export const YOLACT_FAMILY: NetworkFamily = {
  name: 'YOLACT',
  help: '`export` takes the weights of dbolya/yolact with a ResNet or Darknet-53 backbone, of any width and depth, but not YOLACT++ (deformable convolutions, maskiou_net)',
};

/** A tensor of the checkpoint that the network does not use. */
export interface IgnoredTensor {
  readonly key: string;
  /** Part of the report. */
  readonly why: string;
}

const TRAINING_ONLY = ['semantic_seg_conv.', 'class_existence_fc.'];

/**
 * The checkpoint without tensors that the original deletes on loading or does not use at test time: `backbone.layer1.…` (duplicates of `backbone.layers`
 * under an old name), `fpn.downsample_layers` beyond the levels of the config, and layers of training losses.
 * @see dbolya/yolact Yolact.load_weights.
 */
export function withoutUnused(checkpoint: StateDict, levels: number, laterals: number): { state: StateDict; ignored: IgnoredTensor[] } {
  const state = new Map(checkpoint);
  const ignored: IgnoredTensor[] = [];
  for (const key of checkpoint.keys()) {
    const why = whyUnused(key, levels - laterals);
    if (why === undefined) continue;
    state.delete(key);
    ignored.push({ key, why });
  }
  return { state, ignored };
}

function whyUnused(key: string, downsampled: number): string | undefined {
  if (key.startsWith('backbone.layer') && !key.startsWith('backbone.layers')) return 'old name, not read';
  if (TRAINING_ONLY.some(prefix => key.startsWith(prefix))) return 'training only';
  const level = /^fpn\.downsample_layers\.(\d{1,9})\./.exec(key)?.[1];
  return level !== undefined && Number(level) >= downsampled ? 'a level that the config does not have' : undefined;
}

/** All tensors of the network with `levels` pyramid levels, in module order. */
export function expectedTensors(network: YolactSpec, levels: number): ExpectedTensor[] {
  const { backbone, heads, pyramid } = network;
  return [
    ...(backbone.kind === 'resnet' ? resNetTensors(backbone, RESNET_PLACES, 'parameter') : darknetTensors(backbone, 'backbone')),
    ...prototypeTensors(network),
    ...pyramidTensors(network, levels),
    ...heads.flatMap((head, index) => [...headTensors(head, `prediction_layers.${index}`, pyramid.channels)]),
  ];
}

function* prototypeTensors({ prototypes, pyramid }: YolactSpec): Generator<ExpectedTensor> {
  let channels = pyramid.channels;
  for (const [index, layer] of prototypes.entries()) {
    if (layer.kind === 'upsample') continue;
    yield* withBias(`proto_net.${2 * index}`, [layer.channels, channels, layer.kernel, layer.kernel]);
    channels = layer.channels;
  }
}

/** Lateral and prediction layers are numbered from the coarsest level. */
function* pyramidTensors({ pyramid, backbone }: YolactSpec, levels: number): Generator<ExpectedTensor> {
  const { channels, laterals, downsampling } = pyramid;
  for (let n = 0; n < laterals; n++) yield* withBias(`fpn.lat_layers.${n}`, [channels, backbone.stages.at(-1 - n)?.channels, 1, 1]);
  for (let n = 0; n < laterals; n++) yield* withBias(`fpn.pred_layers.${n}`, [channels, channels, 3, 3]);
  if (downsampling === 'pool') return;
  for (let n = 0; n < levels - laterals; n++) yield* withBias(`fpn.downsample_layers.${n}`, [channels, channels, 3, 3]);
}

function* headTensors(head: HeadSpec, at: string, before: Size): Generator<ExpectedTensor> {
  let channels = before;
  for (const [n, out] of head.features.entries()) {
    yield* withBias(`${at}.upfeature.${2 * n}`, [out, channels, 3, 3]);
    channels = out;
  }
  const { priorsPerCell, classes, coefficients } = head;
  yield* withBias(`${at}.bbox_layer`, [times(priorsPerCell, 4), channels, 3, 3]);
  yield* withBias(`${at}.conf_layer`, [product(priorsPerCell, classes), channels, 3, 3]);
  yield* withBias(`${at}.mask_layer`, [product(priorsPerCell, coefficients), channels, 3, 3]);
}

function product(a: Size, b: Size): Size {
  return a === undefined || b === undefined ? undefined : a * b;
}

export type YolactParameters = Readonly<Record<'backbone' | 'fpn' | 'proto_net' | 'prediction_layers' | 'total', number>>;

/** Number of trained parameters per module. */
export function countParameters(expected: readonly ExpectedTensor[]): YolactParameters {
  return countTrained(expected, ['backbone', 'fpn', 'proto_net', 'prediction_layers'], key => {
    if (key.startsWith('backbone.')) return 'backbone';
    if (key.startsWith('fpn.')) return 'fpn';
    return key.startsWith('proto_net.') ? 'proto_net' : 'prediction_layers';
  });
}
