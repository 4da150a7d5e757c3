/** Commands that help to write pipeline files. */
import { Argument } from 'commander';
import { TEMPLATES } from '../commands/project/init/templates.js';
import { SHELLS } from '../process/shells.js';
import { command, type Declared } from './command.js';
import { flag, optional, optionalChoice, repeated, value } from './option.js';
import { json } from './shared-options.js';
import { parseInput, parseSides, parseText } from './values.js';

/** What `--size` gives. */
const SIZE = 'height and width of the images, if the model leaves them free (default: a size at which it runs)';

/** What `--input` gives. */
const INPUT = 'numbers or words such as scale-y for an input besides the image';

export const PROJECT: readonly Declared[] = [
  command({
    words: 'init',
    description: 'write a pipeline file to start from',
    options: {
      file: value('-f, --file <path>', 'where to write it', parseText, { value: 'pipeline.yaml', shown: 'pipeline.yaml' }),
      template: optionalChoice(
        '--template <name>',
        'a trained example with its images (default: the first); with --model: the form of its outputs, if the draft does not recognize it',
        TEMPLATES,
      ),
      model: optional('--model <path>', 'draft the file for this ONNX model, by its inputs and outputs', parseText),
      images: optional('--images <folder>', 'with --model: images for calibration (default: example images)', parseText),
      annotations: optional(
        '--annotations <file>',
        'with --images: their COCO annotations; the draft then evaluates float and int8',
        parseText,
      ),
      size: optional('--size <HxW>', `with --model: ${SIZE}`, parseSides),
      input: repeated('--input <name=value>', `with --model: ${INPUT}`, parseInput),
      recover: flag('--recover', 'with --model: add stages that recover accuracy (channel factors, bias correction)'),
    },
    after:
      'Examples:\n  tanren init                              a trained example that builds at once\n  tanren init --model detector.onnx        all stages for a model of your own',
    run: async (_words, options) => (await import('../commands/project/init.js')).runInit(options),
  }),
  command({
    words: 'try <model-then-images...>',
    usage: '[options] <model.onnx> [images or folders...]',
    description: 'try each quantization preset on a model: NPU share, latency estimate, SQNR, agreement with float, next steps',
    options: {
      json,
      size: optional('--size <HxW>', SIZE, parseSides),
      input: repeated('--input <name=value>', INPUT, parseInput),
      save: optional('--save <file>', 'write the pipeline file that does the same, and keep what it built', parseText),
    },
    after: 'Example:\n  tanren try yolox_nano.onnx photos --save pipeline.yaml',
    run: async ([model = '', ...images], options) => (await import('../commands/project/try.js')).runTry(model, images, options),
  }),
  command({
    words: 'schema',
    description: 'print the JSON Schema of pipeline files',
    options: {},
    run: async () => (await import('../commands/project/schema.js')).runSchema(),
  }),
  command({
    words: 'completion',
    description: 'print a script that makes a shell complete commands, options, targets and parameters',
    argument: new Argument('<shell>', 'the shell').choices(SHELLS),
    options: {},
    after:
      'Set up:\n  bash  tanren completion bash > ~/.local/share/bash-completion/completions/tanren\n  zsh   tanren completion zsh > "${fpath[1]}/_tanren"\n  fish  tanren completion fish > ~/.config/fish/completions/tanren.fish',
    run: async ([shell]) => (await import('../commands/project/completion.js')).runCompletion(shell),
  }),
  command({
    words: 'plugins [names...]',
    description: 'list the plugins with their ports and parameters (default: all)',
    options: { json },
    run: async (names, options) => (await import('../commands/project/plugins.js')).runPlugins(names, options),
  }),
];
