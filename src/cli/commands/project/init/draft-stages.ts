/** Stages of a drafted pipeline, as text: calibration, recovery of accuracy, measurement, evaluation. */

export const factorsStage = (network: string): string => `
  # With one scale per tensor, channels of small weights round to 0. Powers of two enlarge them, and a Mul after the layer divides again: exact in float.
  factors:
    uses: rewrite
    with: {rules: [{name: channel-factors, form: mul, matches: any}]}
    inputs: {model: ${network}}
`;

/** After `quantize`, in a pipeline with `factorsStage` and `captureStage`. */
export const BIASES = `
  # Rounding shifts what a layer computes on average. The shift is measured, and taken out of the bias where that helps.
  biases:
    uses: correct-biases
    inputs: {model: quantize.model, float: factors.model, captured: capture.captured}
`;

/** @param prepare a further input of the stage, with a comma before it; or nothing. */
export function calibrateStage(network: string, samples: number, preprocess: string, prepare: string): string {
  return `  calibrate:
    uses: calibrate
    with:
      samples: ${samples}
      preprocess: &preprocess ${preprocess}
    inputs: {model: ${network}, images: "\${sources.images}"${prepare}}
`;
}

/** Calibration on captured inputs, which `BIASES` reads too. @param prepare as in `calibrateStage`. */
export function captureStage(samples: number, preprocess: string, prepare: string): string {
  return `  capture:
    uses: capture
    with:
      of: model
      samples: ${samples}
      preprocess: &preprocess ${preprocess}
    inputs: {model: factors.model, images: "\${sources.images}"${prepare}}

  calibrate:
    uses: calibrate
    inputs: {model: factors.model, captured: capture.captured}
`;
}

/** @param network, int8 outputs of stages. */
export const measuredBy = (network: string, int8: string): string => `
  # Measured here, on the CPU.
  bench:
    uses: bench
    with: {repeats: 10}
    resources: {cpu: 64} # all there are: nothing else runs while it measures
    inputs: {float: {model: ${network}}, int8: {model: ${int8}}}
`;

/** In float and in int8, on the source `val`. */
export const EVALUATION = `
  # The 12 COCO figures. A bound makes a build fail that loses more: gate: {delta.bbox.AP: ">= -0.02"}
  evaluate-float:
    uses: evaluate
    with: {iouTypes: [bbox]}
    inputs: {parts: {model: simplify.model}, recipe: detector.recipe, data: "\${sources.val}"}

  evaluate-int8:
    uses: evaluate
    with: {iouTypes: [bbox]}
    inputs: {parts: {model: quantize.model}, recipe: detector.recipe, data: "\${sources.val}", baseline: evaluate-float.metrics}
`;
