/** Declares the commands on single ONNX files. Each command does one thing: it reads files and writes files. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { PinnedDim } from '../../onnx/surgery/pin-shapes.js';
import { asJson, type Declare } from './options.js';

function collectDims(text: string, before: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  const match = /^([^=]+)=([1-9]\d{0,8})$/.exec(text);
  if (match === null) throw new InvalidArgumentError('It is such as batch=1.');
  return { ...before, [match[1] ?? '']: Number(match[2]) };
}

function collectShapes(
  text: string,
  before: Readonly<Record<string, readonly PinnedDim[]>>,
): Readonly<Record<string, readonly PinnedDim[]>> {
  const match = /^(.+)=((?:[1-9]\d{0,8}|\?)(?:x(?:[1-9]\d{0,8}|\?))*)$/.exec(text);
  if (match === null) throw new InvalidArgumentError('It is such as images=1x3x224x224; ? for a size that stays free.');
  const dims = (match[2] ?? '').split('x').map((size): PinnedDim => (size === '?' ? 'free' : Number(size)));
  return { ...before, [match[1] ?? '']: dims };
}

function parseCount(text: string): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(count)) throw new InvalidArgumentError('It is a whole number from 0.');
  return count;
}

function parseShare(text: string): number {
  const share = Number(text);
  if (text.trim() === '' || !Number.isFinite(share) || share < 0) throw new InvalidArgumentError('It is a number from 0, such as 1e-4.');
  return share;
}

function parseBatch(text: string): PinnedDim {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It is a whole number from 1.');
  return Number(text);
}

const withPins = (command: Command): Command =>
  command
    .option('--dim <name=size>', 'a number for a named size of the inputs, repeatable', collectDims, {})
    .option('--shape <input=sizes>', 'all sizes of an input, such as images=1x3x224x224, repeatable', collectShapes, {});

const asWriter = (command: Command): Command =>
  command.addOption(
    new Option('--weights <where>', 'of what is written: in the file, in OUT.data beside it, or as the input has them')
      .choices(['same', 'inside', 'outside'])
      .default('same'),
  );

const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];

export const declareOnnx: Declare = (program, end) => {
  const onnx = program.command('onnx').description('look at ONNX files, change them, compare them');

  asJson(onnx.command('inspect <model>'))
    .description('say what is in a model: inputs, outputs, operator sets, operators, weights')
    .action(async (model: string, options: Parameters<typeof import('../commands/onnx-inspect.js').runOnnxInspect>[1]) =>
      end(await (await import('../commands/onnx-inspect.js')).runOnnxInspect(model, options)),
    );

  asJson(onnx.command('check <model>'))
    .description('list everything that is wrong with a model; exit code 1 where something is')
    .action(async (model: string, options: Parameters<typeof import('../commands/onnx-check.js').runOnnxCheck>[1]) =>
      end(await (await import('../commands/onnx-check.js')).runOnnxCheck(model, options)),
    );

  asJson(withPins(onnx.command('stats <model>')))
    .description('count nodes, parameters, multiply-accumulates and activation memory, whole and per node')
    .option('--top <n>', 'nodes that are listed, the largest first', parseCount, 10)
    .action(async (model: string, options: Parameters<typeof import('../commands/onnx-stats.js').runOnnxStats>[1]) =>
      end(await (await import('../commands/onnx-stats.js')).runOnnxStats(model, options)),
    );

  asJson(onnx.command('print <model>'))
    .description('print a model as text')
    .option('--elements <n>', 'constants with more elements are shortened', parseCount, 16)
    .action(async (model: string, options: Parameters<typeof import('../commands/onnx-print.js').runOnnxPrint>[1]) =>
      end(await (await import('../commands/onnx-print.js')).runOnnxPrint(model, options)),
    );

  asJson(onnx.command('diff <before> <after>'))
    .description('say how two models differ, in structure and in every value they compute; exit code 1 where they do')
    .addOption(new Option('--only <what>', 'structure or values').choices(['structure', 'values']))
    .option('--samples <n>', 'inputs on which both run', parseCount, 1)
    .option('--data <path>', 'a .npz or .npy file or a folder of tensors, instead of random ones')
    .option('--dim <name=size>', 'for random inputs: a number for a named size, repeatable', collectDims, {})
    .option('--tolerance <share>', 'differences that count as none, as a share of the standard deviation', parseShare, 0)
    .option('--top <n>', 'differences that are listed', parseCount, 20)
    .addHelpText('after', '\nExample:\n  tanren onnx diff model.onnx simplified.onnx --only values --tolerance 1e-4')
    .action(async (before: string, after: string, options: Parameters<typeof import('../commands/onnx-diff.js').runOnnxDiff>[2]) =>
      end(await (await import('../commands/onnx-diff.js')).runOnnxDiff(before, after, options)),
    );

  asJson(asWriter(withPins(onnx.command('infer <in> <out>'))))
    .description('write the dtype and shape of every value into a model')
    .action(async (from: string, to: string, options: Parameters<typeof import('../commands/onnx-infer.js').runOnnxInfer>[2]) =>
      end(await (await import('../commands/onnx-infer.js')).runOnnxInfer(from, to, options)),
    );

  asJson(asWriter(withPins(onnx.command('simplify <in> <out>'))))
    .description('remove and fuse nodes without changing what a model computes; nothing is written where the outputs differ')
    .option('--skip <pass>', 'a pass to leave out, repeatable', collect, [])
    .option('--samples <n>', 'inputs on which equality is proved; 0: none', parseCount, 2)
    .option('--data <path>', 'a .npz or .npy file or a folder of tensors, instead of random ones')
    .option('--tolerance <share>', 'where a pass rounds: the difference allowed, as a share of the standard deviation', parseShare, 1e-4)
    .option('--fold-limit <bytes>', 'largest constant that folding may create', parseCount, 1 << 20)
    .addHelpText('after', '\nExample:\n  tanren onnx simplify detector.onnx small.onnx --shape images=1x3x544x960')
    .action(async (from: string, to: string, options: Parameters<typeof import('../commands/onnx-simplify.js').runOnnxSimplify>[2]) =>
      end(await (await import('../commands/onnx-simplify.js')).runOnnxSimplify(from, to, options)),
    );

  asJson(asWriter(onnx.command('extract <in> <out>')))
    .description('cut out what computes some values out of others')
    .option('-i, --inputs <names...>', 'values that the part starts from')
    .option('-o, --outputs <names...>', 'values that it gives')
    .addHelpText('after', '\nExample:\n  tanren onnx extract detector.onnx backbone.onnx --outputs p2 p3 p4')
    .action(async (from: string, to: string, options: Parameters<typeof import('../commands/onnx-extract.js').runOnnxExtract>[2]) =>
      end(await (await import('../commands/onnx-extract.js')).runOnnxExtract(from, to, options)),
    );

  asJson(asWriter(withPins(onnx.command('convert <in> <out>'))))
    .description('bring a model to another operator set, to fixed sizes, or its weights to another place')
    .option('--opset <n>', 'operator set of the ONNX domain', parseCount)
    .option('--batch <n>', 'first size of four-dimensional inputs that leave it free', parseBatch)
    .addHelpText('after', '\nExample:\n  tanren onnx convert old.onnx new.onnx --opset 17 --batch 1')
    .action(async (from: string, to: string, options: Parameters<typeof import('../commands/onnx-convert.js').runOnnxConvert>[2]) =>
      end(await (await import('../commands/onnx-convert.js')).runOnnxConvert(from, to, options)),
    );

  asJson(asWriter(onnx.command('edit <in> <out>')))
    .description('change attributes, constants, nodes, inputs and outputs')
    .option('--script <file>', 'YAML or JSON: a list of steps')
    .option('--select <nodes>', 'what --set and --delete change: a name, fields such as "op=MaxPool producer=Conv", or JSON')
    .option('--set <name=value>', 'an attribute, repeatable', collect, [])
    .option('--delete <name>', 'an attribute, repeatable', collect, [])
    .option('--remove <nodes>', 'nodes to take out: what read them reads their input, repeatable', collect, [])
    .option('--add-output <value>', 'a value that becomes an output, repeatable', collect, [])
    .option('--drop-output <value>', 'an output that goes, with what only it needs, repeatable', collect, [])
    .option('--any', 'selectors may mean none, or several', false)
    .addHelpText('after', '\nExample:\n  tanren onnx edit in.onnx out.onnx --select op=LeakyRelu --set alpha=0.125 --any')
    .action(async (from: string, to: string, options: Parameters<typeof import('../commands/onnx-edit.js').runOnnxEdit>[2]) =>
      end(await (await import('../commands/onnx-edit.js')).runOnnxEdit(from, to, options)),
    );

  asJson(asWriter(onnx.command('rename <in> <out>')))
    .description('give values and nodes other names, all at once')
    .option('--value <old=new>', 'inputs, outputs, constants and what lies between; repeatable', collect, [])
    .option('--node <old=new>', 'repeatable', collect, [])
    .addHelpText('after', '\nExample:\n  tanren onnx rename in.onnx out.onnx --value images=x --node "model/*=*"')
    .action(async (from: string, to: string, options: Parameters<typeof import('../commands/onnx-rename.js').runOnnxRename>[2]) =>
      end(await (await import('../commands/onnx-rename.js')).runOnnxRename(from, to, options)),
    );

  asJson(asWriter(onnx.command('merge <first> <second> <out>')))
    .description('join two models: values of the first feed inputs of the second')
    .option('--connect <value=input>', 'a value of the first and an input of the second, repeatable; equal names where absent', collect, [])
    .option('--prefix-first <text>', 'put before every name of the first model')
    .option('--prefix-second <text>', 'put before every name of the second model')
    .option('--keep-connected', 'outputs that feed the second model stay outputs', false)
    .addHelpText('after', '\nExample:\n  tanren onnx merge backbone.onnx head.onnx whole.onnx --connect p3=features')
    .action(
      async (first: string, second: string, to: string, options: Parameters<typeof import('../commands/onnx-merge.js').runOnnxMerge>[3]) =>
        end(await (await import('../commands/onnx-merge.js')).runOnnxMerge(first, second, to, options)),
    );
};
