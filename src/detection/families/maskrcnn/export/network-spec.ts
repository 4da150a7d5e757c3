/** Widths, depths and variants of a torchvision Mask R-CNN, read from the keys and shapes of its state dict. */
import type { ResNetPlaces, ResNetStage } from '../../../network/resnet.js';
import { countChildren, type Size, type StateDict } from '../../../network/state-dict.js';

/** 'frozen': FrozenBatchNorm2d, whose tensors are all buffers and which has no num_batches_tracked. 'none': convolutions have biases instead. */
export type BodyNorm = 'batch-norm' | 'frozen';
export type BlockNorm = 'batch-norm' | 'none';

export interface MaskRcnnSpec {
  readonly stem: Size;
  readonly bodyNorm: BodyNorm;
  /** layer1 … layer4 of the ResNet. */
  readonly stages: readonly ResNetStage[];
  readonly pyramid: { readonly channels: Size; readonly norm: BlockNorm };
  readonly rpn: { readonly depth: number; readonly anchorsPerCell: Size };
  readonly boxHead: BoxHeadSpec;
  readonly maskHead: { readonly convs: readonly Size[]; readonly norm: BlockNorm; readonly hidden: Size };
  readonly classes: Size;
}

export interface BoxHeadSpec {
  /** 'conv-fc': convolutions, then fully connected layers, numbered in one sequence. 'two-fc': fc6 and fc7. */
  readonly form: 'conv-fc' | 'two-fc';
  readonly convs: readonly Size[];
  readonly norm: BlockNorm;
  readonly hidden: readonly Size[];
}

export const BODY_STAGES = 4;
export const PYRAMID_LEVELS = 4;

/** The ResNet's modules: layer1 … layer4. */
export const BODY_PLACES: ResNetPlaces = { body: 'backbone.body', stageAt: stage => `backbone.body.layer${stage + 1}` };

/** Keys of torchvision before version 0.14, whose modules are now one level deeper. */
const RENAMED: readonly (readonly [RegExp, (match: readonly string[]) => string])[] = [
  [/^backbone\.fpn\.(inner|layer)_blocks\.(\d+)\.(weight|bias)$/, ([, block, n, leaf]) => `backbone.fpn.${block}_blocks.${n}.0.${leaf}`],
  [/^rpn\.head\.conv\.(weight|bias)$/, ([, leaf]) => `rpn.head.conv.0.0.${leaf}`],
  [/^roi_heads\.mask_head\.mask_fcn(\d{1,3})\.(weight|bias)$/, ([, n, leaf]) => `roi_heads.mask_head.${Number(n) - 1}.0.${leaf}`],
];

/** The same tensors with current keys. Current keys are kept. */
export function withCurrentNames(state: StateDict): StateDict {
  return new Map([...state].map(([key, tensor]) => [currentName(key), tensor]));
}

function currentName(key: string): string {
  for (const [pattern, rename] of RENAMED) {
    const match = pattern.exec(key);
    if (match !== null) return rename(match);
  }
  return key;
}

/** Missing tensors give undefined sizes; `checkStateDict` reports them. */
export function readMaskRcnnSpec(state: StateDict): MaskRcnnSpec {
  const keys = [...state.keys()];
  const size = (key: string, axis: number): Size => state.get(key)?.dims[axis];
  const normOf = (block: string): BlockNorm => (state.has(`${block}.1.weight`) ? 'batch-norm' : 'none');
  const stages = Array.from({ length: BODY_STAGES }, (_, index): ResNetStage => {
    const layer = `backbone.body.layer${index + 1}`;
    return {
      blocks: Math.max(1, countChildren(keys, `${layer}.`)),
      width: size(`${layer}.0.conv1.weight`, 0),
      channels: size(`${layer}.0.conv3.weight`, 0),
    };
  });
  const maskConvs = Math.max(1, countChildren(keys, 'roi_heads.mask_head.'));
  return {
    stem: size('backbone.body.conv1.weight', 0),
    bodyNorm: keys.some(key => key.startsWith('backbone.body.') && key.endsWith('.num_batches_tracked')) ? 'batch-norm' : 'frozen',
    stages,
    pyramid: { channels: size('backbone.fpn.layer_blocks.0.0.weight', 0), norm: normOf('backbone.fpn.layer_blocks.0') },
    rpn: { depth: Math.max(1, countChildren(keys, 'rpn.head.conv.')), anchorsPerCell: size('rpn.head.cls_logits.weight', 0) },
    boxHead: readBoxHead(keys, size, normOf),
    maskHead: {
      convs: Array.from({ length: maskConvs }, (_, n) => size(`roi_heads.mask_head.${n}.0.weight`, 0)),
      norm: normOf('roi_heads.mask_head.0'),
      hidden: size('roi_heads.mask_predictor.conv5_mask.weight', 1),
    },
    classes: size('roi_heads.box_predictor.cls_score.weight', 0),
  };
}

function readBoxHead(
  keys: readonly string[],
  size: (key: string, axis: number) => Size,
  normOf: (block: string) => BlockNorm,
): BoxHeadSpec {
  const at = 'roi_heads.box_head';
  if (keys.some(key => key.startsWith(`${at}.fc6.`))) {
    return { form: 'two-fc', convs: [], norm: 'none', hidden: [size(`${at}.fc6.weight`, 0), size(`${at}.fc7.weight`, 0)] };
  }
  const convs = keys.filter(key => /^roi_heads\.box_head\.\d+\.0\.weight$/.test(key)).length;
  const linears = Math.max(1, keys.filter(key => /^roi_heads\.box_head\.\d+\.weight$/.test(key)).length);
  return {
    form: 'conv-fc',
    convs: Array.from({ length: convs }, (_, n) => size(`${at}.${n}.0.weight`, 0)),
    norm: normOf(`${at}.0`),
    hidden: Array.from({ length: linears }, (_, n) => size(`${at}.${linearIndex(convs, n)}.weight`, 0)),
  };
}

/** Module index of fully connected layer `n` in a conv-fc head: after the convolutions and one flatten, with a ReLU after each fully connected layer. */
export function linearIndex(convs: number, n: number): number {
  return convs + 1 + 2 * n;
}
