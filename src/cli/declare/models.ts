/** Declares the commands that run a built detector, explain a quantized tensor, or check a model for a target. */
import { InvalidArgumentError, Option } from 'commander';
import { asJson, type Declare, onPipeline, parseCount } from './options.js';

function collectPins(text: string, before: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  const match = /^([^=]+)=([1-9]\d{0,8})$/.exec(text);
  if (match === null) throw new InvalidArgumentError('It is such as box_rois=16.');
  return { ...before, [match[1] ?? '']: Number(match[2]) };
}

function parseScore(text: string): number {
  const score = Number(text);
  if (text.trim() === '' || !(score >= 0 && score <= 1)) throw new InvalidArgumentError('It is a number from 0 to 1.');
  return score;
}

export const declareModels: Declare = (program, end) => {
  asJson(onPipeline(program.command('detect <stages-then-images...>')))
    .usage('[options] <stage...> <image-or-folder>')
    .description(
      'find objects in pictures of your own, with the detector that a stage such as `evaluate` runs; several stages are compared',
    )
    .option(
      '-o, --output <path>',
      'FILE.json: what was found, as a COCO document; else a folder that gets it together with a PNG per picture',
    )
    .option('--min-score <number>', 'objects that are shown, drawn and followed have at least this score', parseScore, 0.5)
    .option('--frames', 'the pictures of a folder are the frames of a video: say how steady boxes, masks and scores are', false)
    .option('--threads <n>', 'threads inside an operator', parseCount, 1)
    .addHelpText(
      'after',
      '\nExamples:\n  tanren detect evaluate-int8 photo.jpg -o found\n  tanren detect evaluate-float evaluate-int8 frames/ --frames --json',
    )
    .action(async (words: string[], options: Parameters<typeof import('../commands/detect.js').runDetect>[1]) =>
      end(await (await import('../commands/detect.js')).runDetect(words, options)),
    );

  const quant = program.command('quant').description('look at how a model was quantized');
  asJson(onPipeline(quant.command('explain <model-or-stage> <tensor>')))
    .description('say how one tensor was quantized, why so, and what it costs; of a QDQ model (.onnx) what the file says')
    .addHelpText(
      'after',
      '\nExamples:\n  tanren quant explain quantize@backbone feature_0\n  tanren quant explain artifacts/quantize@box_head/model.onnx class_logits',
    )
    .action(async (where: string, tensor: string, options: Parameters<typeof import('../commands/quant-explain.js').runQuantExplain>[2]) =>
      end(await (await import('../commands/quant-explain.js')).runQuantExplain(where, tensor, options)),
    );

  asJson(program.command('lint <model>'))
    .description('say which nodes of a model an NPU would not run, and why; exit code 1 where there are any')
    .requiredOption('-t, --target <name>', 'ryzen-ai, generic-int8, or the path of a profile (.json)')
    .option('--device <name>', "one of the profile's devices")
    .option('--dtype <name>', "one of the profile's data types")
    .option('--software <version>', "version of the vendor's software")
    .addOption(new Option('--undocumented <where>', 'where nodes go that no document names').choices(['cpu', 'npu']).default('cpu'))
    .option('--pin <name=size>', 'a number for a named size of an input, repeatable', collectPins, {})
    .option('--all', 'list every node', false)
    .addHelpText(
      'after',
      '\nExample:\n  tanren lint artifacts/quantize@backbone/model.onnx --target ryzen-ai --device stx-krk --dtype xint8',
    )
    .action(async (model: string, options: Parameters<typeof import('../commands/lint.js').runLint>[1]) =>
      end(await (await import('../commands/lint.js')).runLint(model, options)),
    );
};
