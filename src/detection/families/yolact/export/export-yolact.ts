/** Builds the ONNX model and the host recipe of a YOLACT from its checkpoint. */
import type { Model } from '../../../../onnx/ir/model.js';
import { DetectionError } from '../../../error/detection-error.js';
import { startModel } from '../../../network/layers.js';
import { checkStateDict, type StateDict } from '../../../network/state-dict.js';
import { countClasses, countPriors, type YolactConfig } from '../config.js';
import type { YolactRecipe } from '../recipe.js';
import { buildNetwork } from './network.js';
import { readYolactSpec, type YolactSpec } from './network-spec.js';
import { countParameters, expectedTensors, type IgnoredTensor, withoutUnused, YOLACT_FAMILY, type YolactParameters } from './state-keys.js';

export interface YolactExport {
  readonly model: Model;
  readonly recipe: YolactRecipe;
  readonly network: YolactSpec;
  readonly parameters: YolactParameters;
  readonly ignored: readonly IgnoredTensor[];
}

/** The graph needs at least opset 13, for Resize. NPU toolchains read 17. */
const OPSET = 17;

/**
 * Builds the ONNX model of a YOLACT: one network without permute, softmax, tanh and concatenation, so that every pyramid level has its own scale when
 * it is quantized. Weights are the bytes of the state dict.
 *
 * @throws DetectionError `checkpoint-mismatch`, `config-mismatch`, `input-size`.
 */
export function exportYolact(checkpoint: StateDict, config: YolactConfig, size: { height: number; width: number }): YolactExport {
  const side = getSide(size);
  const levels = config.priors.scales.length;
  const network = readYolactSpec(checkpoint);
  const { state, ignored } = withoutUnused(checkpoint, levels, network.pyramid.laterals);
  const expected = expectedTensors(network, levels);
  checkStateDict(state, expected, YOLACT_FAMILY);
  checkConfig(config, network);

  const builder = startModel(state, 'yolact', OPSET);
  const built = buildNetwork(builder, network, { side, levels });
  const outputs = [
    ...built.levels.map(({ boxes }) => boxes),
    ...built.levels.map(({ classes }) => classes),
    ...built.levels.map(({ coefficients }) => coefficients),
    built.prototypes.value,
  ];
  return {
    model: builder.model,
    recipe: {
      format: 'tanren-recipe',
      version: 1,
      architecture: 'yolact',
      image: { value: 'image', height: side, width: side },
      parts: { network: { inputs: ['image'], outputs } },
      ...built,
      config,
    },
    network,
    parameters: countParameters(expected),
    ignored,
  };
}

function getSide({ height, width }: { height: number; width: number }): number {
  if (height === width) return height;
  throw new DetectionError('input-size', `input height×width ${height}×${width} should be square: YOLACT resizes every image to a square`, {
    help: `use ${Math.max(height, width)}×${Math.max(height, width)}, or the size that the network was trained at`,
  });
}

/** @throws DetectionError `config-mismatch` with every field that contradicts the checkpoint. */
function checkConfig(config: YolactConfig, { pyramid, heads, prototypes }: YolactSpec): void {
  const problems: string[] = [];
  const levels = config.priors.scales.length;
  if (levels < pyramid.laterals) problems.push(`priors.scales has ${levels} levels, fpn.lat_layers already has ${pyramid.laterals}`);
  if (heads.length > 1 && heads.length !== levels)
    problems.push(`priors.scales has ${levels} levels, prediction_layers has ${heads.length} modules`);
  for (const level of config.priors.scales.keys()) {
    const index = heads.length === 1 ? 0 : level;
    const [priors, expected] = [countPriors(config.priors, level), heads[index]?.priorsPerCell];
    if (expected !== undefined && expected !== priors)
      problems.push(
        `priors.scales[${level}] with aspectRatios gives ${priors} priors per cell, prediction_layers.${index}.bbox_layer has ${expected}`,
      );
  }
  const last = prototypes.at(-1);
  for (const [index, { classes, coefficients }] of heads.entries()) {
    if (classes !== countClasses(config))
      problems.push(
        `categories has ${config.categories.length} entries, prediction_layers.${index}.conf_layer has ${(classes ?? 0) - 1} classes besides the background`,
      );
    if (last?.kind === 'conv' && coefficients !== last.channels)
      problems.push(
        `prediction_layers.${index}.mask_layer has ${coefficients} coefficients per prior, proto_net ${last.channels} prototypes`,
      );
  }
  if (problems.length === 0) return;
  throw new DetectionError('config-mismatch', `the detector config does not fit the checkpoint: ${problems.join('; ')}`, {
    details: problems,
    help: 'the config describes how the network was trained; use the one that belongs to the checkpoint',
  });
}
