/** `tanren init`: writes a pipeline file to start from. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { makeConsole } from '../../terminal/console.js';

const SKELETON = `# A Tanren pipeline. Stages refer to each other's outputs: that is the graph. \`tanren plugins\` lists what a stage can use.
version: 1

params:
  height: 544
  width: 960
  preset: {type: string, enum: [u8s8, a8w8], default: u8s8}

sources:
  checkpoint: models/detector.safetensors # .pth and .pt are read too, without executing anything in them
  config: models/detector.json # what a checkpoint cannot hold: anchors, thresholds, categories
  calib: {annotations: data/instances_calib.json, images: data/calib}
  val: {annotations: data/instances_val.json, images: data/val}

stages:
  export:
    uses: export
    with: {architecture: maskrcnn, input: [1, 3, "\${height}", "\${width}"]}
    inputs: {checkpoint: "\${sources.checkpoint}", config: "\${sources.config}"}

  parts:
    uses: split
    with: {recipe: maskrcnn}
    inputs: {model: export.model, recipe: export.recipe}

  simplify:
    foreach: [backbone, box_head, mask_head]
    uses: simplify
    inputs: {model: "parts.\${item}"}

  calibrate:
    foreach: [backbone, box_head, mask_head]
    uses: calibrate
    with: {part: "\${item}", samples: 16}
    inputs:
      model: "simplify@\${item}.model"
      detector: {backbone: simplify@backbone.model, box_head: simplify@box_head.model, mask_head: simplify@mask_head.model}
      recipe: export.recipe
      config: "\${sources.config}"
      data: "\${sources.calib}"

  quantize:
    foreach: [backbone, box_head, mask_head]
    uses: quantize
    with: {preset: "\${preset}"}
    inputs: {model: "simplify@\${item}.model", sketches: "calibrate@\${item}.sketches"}

  evaluate:
    uses: evaluate
    inputs:
      parts: {backbone: quantize@backbone.model, box_head: quantize@box_head.model, mask_head: quantize@mask_head.model}
      recipe: export.recipe
      config: "\${sources.config}"
      data: "\${sources.val}"
    gate: {bbox.AP: ">= 0.4"} # checked in every build; a missed gate is exit code 1
`;

/** Creates the folder if it is missing. Never overwrites a file. */
export async function runInit(options: { readonly file: string }): Promise<ExitCode> {
  const console = makeConsole({ json: false });
  try {
    mkdirSync(dirname(options.file), { recursive: true });
    writeFileSync(options.file, SKELETON, { flag: 'wx' });
  } catch (error) {
    const isThere = existsSync(options.file);
    if (isThere) console.problem('error', `error[file-exists]: ${options.file} exists already\n  help: name another file with -f`);
    else console.problem('error', `error[not-writable]: ${options.file}: ${error instanceof Error ? error.message : String(error)}`);
    return EXIT.usage;
  }
  console.line(`wrote ${options.file}: name your checkpoint and data in it, then run "tanren build"`);
  return EXIT.built;
}
