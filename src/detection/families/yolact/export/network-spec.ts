/** Backbone, widths and depths of a YOLACT, read from the keys and shapes of its state dict. */
import { DARKNET_STEM, type DarknetStage } from '../../../network/darknet.js';
import type { ResNetPlaces, ResNetStage } from '../../../network/resnet.js';
import { countChildren, type Size, type StateDict } from '../../../network/state-dict.js';

export interface YolactSpec {
  readonly backbone: BackboneSpec;
  readonly pyramid: PyramidSpec;
  readonly prototypes: readonly PrototypeLayer[];
  /** One head shared by all levels, or one per level. */
  readonly heads: readonly HeadSpec[];
}

export type BackboneSpec =
  | { readonly kind: 'resnet'; readonly stem: Size; readonly stages: readonly ResNetStage[] }
  | { readonly kind: 'darknet'; readonly stem: Size; readonly stages: readonly DarknetStage[] };

export interface PyramidSpec {
  readonly channels: Size;
  /** Number of levels that come from the last stages of the backbone. */
  readonly laterals: number;
  /** Further levels: stride-2 convolutions, or every second cell where the checkpoint has no convolutions. */
  readonly downsampling: 'conv' | 'pool';
}

/** A convolution, or an upsampling ×2 without tensors. Every second module of the sequence is a ReLU. */
export type PrototypeLayer = { readonly kind: 'conv'; readonly channels: Size; readonly kernel: 1 | 3 } | { readonly kind: 'upsample' };

export interface HeadSpec {
  /** Widths of the convolutions before the three prediction layers. */
  readonly features: readonly Size[];
  readonly priorsPerCell: Size;
  /** Background included. */
  readonly classes: Size;
  readonly coefficients: Size;
}

/** Modules beyond this index are reported as unexpected keys. */
const LONGEST_SEQUENCE = 64;

export const RESNET_PLACES: ResNetPlaces = { body: 'backbone', stageAt: stage => `backbone.layers.${stage}` };

/** Missing tensors give undefined sizes; `checkStateDict` reports them. */
export function readYolactSpec(state: StateDict): YolactSpec {
  const keys = [...state.keys()];
  const heads = Math.max(1, countChildren(keys, 'prediction_layers.'));
  const backbone = readBackbone(state, keys);
  return {
    backbone,
    pyramid: {
      channels: sizeOf(state, 'fpn.pred_layers.0.weight', 0),
      laterals: Math.min(Math.max(1, countChildren(keys, 'fpn.lat_layers.')), backbone.stages.length),
      downsampling: keys.some(key => key.startsWith('fpn.downsample_layers.')) ? 'conv' : 'pool',
    },
    prototypes: readPrototypes(state),
    heads: Array.from({ length: heads }, (_, index) => readHead(state, keys, `prediction_layers.${index}`)),
  };
}

function readBackbone(state: StateDict, keys: readonly string[]): BackboneSpec {
  const count = Math.max(1, countChildren(keys, 'backbone.layers.'));
  const childrenOf = (stage: number): number => countChildren(keys, `backbone.layers.${stage}.`);
  const size = (key: string): Size => sizeOf(state, `backbone.${key}.weight`, 0);
  if (keys.some(key => key.startsWith(`backbone.${DARKNET_STEM}.`)))
    return {
      kind: 'darknet',
      stem: size(`${DARKNET_STEM}.0`),
      stages: Array.from({ length: count }, (_, stage) => ({
        blocks: Math.max(1, childrenOf(stage) - 1),
        width: size(`layers.${stage}.1.conv1.0`),
        channels: size(`layers.${stage}.0.0`),
      })),
    };
  return {
    kind: 'resnet',
    stem: size('conv1'),
    stages: Array.from({ length: count }, (_, stage) => ({
      blocks: Math.max(1, childrenOf(stage)),
      width: size(`layers.${stage}.0.conv1`),
      channels: size(`layers.${stage}.0.conv3`),
    })),
  };
}

/** Even indices of `proto_net` are layers. An index without a key is an upsampling. */
function readPrototypes(state: StateDict): PrototypeLayer[] {
  const layers: PrototypeLayer[] = [];
  for (let index = 0, last = -1; index <= LONGEST_SEQUENCE; index += 2) {
    const dims = state.get(`proto_net.${index}.weight`)?.dims;
    if (dims === undefined) continue;
    for (let gap = last + 2; last >= 0 && gap < index; gap += 2) layers.push({ kind: 'upsample' });
    layers.push({ kind: 'conv', channels: dims[0], kernel: dims[2] === 1 ? 1 : 3 });
    last = index;
  }
  return layers.length > 0 ? layers : [{ kind: 'conv', channels: undefined, kernel: 3 }];
}

function readHead(state: StateDict, keys: readonly string[], at: string): HeadSpec {
  const priorsPerCell = divide(sizeOf(state, `${at}.bbox_layer.weight`, 0), 4);
  return {
    features: Array.from({ length: countChildren(keys, `${at}.upfeature.`) }, (_, n) =>
      sizeOf(state, `${at}.upfeature.${2 * n}.weight`, 0),
    ),
    priorsPerCell,
    classes: divide(sizeOf(state, `${at}.conf_layer.weight`, 0), priorsPerCell),
    coefficients: divide(sizeOf(state, `${at}.mask_layer.weight`, 0), priorsPerCell),
  };
}

function sizeOf(state: StateDict, key: string, axis: number): Size {
  return state.get(key)?.dims[axis];
}

/** Undefined where the division has a remainder; the wrong shape is then reported. */
function divide(size: Size, by: Size): Size {
  return size === undefined || by === undefined || by === 0 || size % by !== 0 ? undefined : size / by;
}
