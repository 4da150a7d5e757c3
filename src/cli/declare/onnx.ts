/** Commands on single ONNX files: each reads files, does one thing, and writes files. */
import { FOLD_LIMIT_BYTES } from '../../onnx/passes/fold-limit.js';
import { command, type Declared, group } from './command.js';
import { DIM, data, PINS, parseCountOrNone, samples, tolerance, weights } from './onnx-options.js';
import { flag, optional, optionalChoice, repeated, several, value } from './option.js';
import { json } from './shared-options.js';
import { parseCount, parseText } from './values.js';

const READERS: readonly Declared[] = [
  command({
    words: 'inspect <model>',
    description: 'show what a model holds: inputs, outputs, operator sets, operators, weights',
    options: { json },
    run: async ([model = ''], options) => (await import('../commands/onnx/inspect.js')).runOnnxInspect(model, options),
  }),
  command({
    words: 'check <model>',
    description: 'list all errors of a model; exit code 1 if there are any',
    options: { json },
    run: async ([model = ''], options) => (await import('../commands/onnx/check.js')).runOnnxCheck(model, options),
  }),
  command({
    words: 'stats <model>',
    description: 'count nodes, parameters, multiply-accumulates and activation memory, in total and per node',
    options: {
      json,
      ...PINS,
      top: value('--top <n>', 'number of nodes to list, largest first', parseCountOrNone, { value: 10, shown: '10' }),
    },
    run: async ([model = ''], options) => (await import('../commands/onnx/stats.js')).runOnnxStats(model, options),
  }),
  command({
    words: 'print <model>',
    description: 'print a model as text',
    options: {
      json,
      elements: value('--elements <n>', 'shorten constants with more elements than this', parseCountOrNone, { value: 16, shown: '16' }),
    },
    run: async ([model = ''], options) => (await import('../commands/onnx/print.js')).runOnnxPrint(model, options),
  }),
  command({
    words: 'diff <before> <after>',
    description: 'compare two models, in structure and in every value they compute; exit code 1 if they differ',
    options: {
      json,
      only: optionalChoice('--only <what>', 'compare only this (default: both)', ['structure', 'values']),
      samples: samples('number of inputs on which both models run', 1),
      data,
      dim: DIM,
      tolerance: tolerance('largest difference that counts as equal, as a fraction of the standard deviation', 0),
      top: value('--top <n>', 'number of differences to list', parseCountOrNone, { value: 20, shown: '20' }),
    },
    after: 'Example:\n  tanren onnx diff model.onnx simplified.onnx --only values --tolerance 1e-4',
    run: async ([before = '', after = ''], options) => (await import('../commands/onnx/diff.js')).runOnnxDiff(before, after, options),
  }),
];

const CONVERTERS: readonly Declared[] = [
  command({
    words: 'infer <in> <out>',
    description: 'write the dtype and shape of every value into a model',
    options: { json, ...PINS, weights },
    run: async ([from = '', to = ''], options) => (await import('../commands/onnx/infer.js')).runOnnxInfer(from, to, options),
  }),
  command({
    words: 'simplify <in> <out>',
    description: 'remove and fuse nodes without changing what a model computes; writes nothing if the outputs differ',
    options: {
      json,
      ...PINS,
      weights,
      skip: repeated('--skip <pass>', 'leave out a pass', parseText),
      samples: samples('number of inputs on which equality is checked; 0: none', 2),
      data,
      tolerance: tolerance('largest difference after a pass that rounds, as a fraction of the standard deviation', 1e-4),
      foldLimit: value('--fold-limit <bytes>', 'largest constant that folding may create', parseCountOrNone, {
        value: FOLD_LIMIT_BYTES,
        shown: `${FOLD_LIMIT_BYTES}`,
      }),
    },
    after: 'Example:\n  tanren onnx simplify detector.onnx small.onnx --shape images=1x3x544x960',
    run: async ([from = '', to = ''], options) => (await import('../commands/onnx/simplify.js')).runOnnxSimplify(from, to, options),
  }),
  command({
    words: 'convert <in> <out>',
    description: 'convert a model to another operator set or to fixed shapes, or move its weights',
    options: {
      json,
      ...PINS,
      weights,
      opset: optional('--opset <n>', 'operator set of the ONNX domain', parseCountOrNone),
      batch: optional('--batch <n>', 'first dim of four-dimensional inputs whose first dim is dynamic', parseCount),
    },
    after: 'Example:\n  tanren onnx convert old.onnx new.onnx --opset 17 --batch 1',
    run: async ([from = '', to = ''], options) => (await import('../commands/onnx/convert.js')).runOnnxConvert(from, to, options),
  }),
];

const EDITORS: readonly Declared[] = [
  command({
    words: 'extract <in> <out>',
    description: 'extract the part of a model between given values',
    options: {
      json,
      weights,
      inputs: several('-i, --inputs <names...>', 'values that become inputs of the part', parseText),
      outputs: several('-o, --outputs <names...>', 'values that become its outputs', parseText),
    },
    after: 'Example:\n  tanren onnx extract detector.onnx backbone.onnx --outputs p2 p3 p4',
    run: async ([from = '', to = ''], options) => (await import('../commands/onnx/extract.js')).runOnnxExtract(from, to, options),
  }),
  command({
    words: 'edit <in> <out>',
    description: 'change attributes, constants, nodes, inputs and outputs',
    options: {
      json,
      weights,
      script: optional('--script <file>', 'YAML or JSON file with a list of steps', parseText),
      select: optional(
        '--select <nodes>',
        'nodes that --set and --delete change: a name, fields such as "op=MaxPool producer=Conv", or JSON',
        parseText,
      ),
      set: repeated('--set <name=value>', 'set an attribute', parseText),
      delete: repeated('--delete <name>', 'delete an attribute', parseText),
      remove: repeated('--remove <nodes>', 'remove nodes; their consumers then read their input', parseText),
      addOutput: repeated('--add-output <value>', 'make a value an output', parseText),
      dropOutput: repeated('--drop-output <value>', 'remove an output and the nodes that only it needs', parseText),
      any: flag('--any', 'allow selectors to match no node, or several'),
    },
    after: 'Example:\n  tanren onnx edit in.onnx out.onnx --select op=LeakyRelu --set alpha=0.125 --any',
    run: async ([from = '', to = ''], options) => (await import('../commands/onnx/edit.js')).runOnnxEdit(from, to, options),
  }),
  command({
    words: 'rename <in> <out>',
    description: 'rename values and nodes, all at once',
    options: {
      json,
      weights,
      value: repeated('--value <old=new>', 'rename an input, output, constant or intermediate value', parseText),
      node: repeated('--node <old=new>', 'rename a node', parseText),
    },
    after: 'Example:\n  tanren onnx rename in.onnx out.onnx --value images=x --node "model/*=*"',
    run: async ([from = '', to = ''], options) => (await import('../commands/onnx/rename.js')).runOnnxRename(from, to, options),
  }),
  command({
    words: 'merge <first> <second> <out>',
    description: 'join two models: values of the first become inputs of the second',
    options: {
      json,
      weights,
      connect: repeated(
        '--connect <value=input>',
        'connect a value of the first to an input of the second (default: equal names)',
        parseText,
      ),
      prefixFirst: optional('--prefix-first <text>', 'prefix of every name of the first model', parseText),
      prefixSecond: optional('--prefix-second <text>', 'prefix of every name of the second model', parseText),
      keepConnected: flag('--keep-connected', 'keep the outputs that feed the second model'),
    },
    after: 'Example:\n  tanren onnx merge backbone.onnx head.onnx whole.onnx --connect p3=features',
    run: async ([first = '', second = '', to = ''], options) =>
      (await import('../commands/onnx/merge.js')).runOnnxMerge(first, second, to, options),
  }),
];

export const ONNX: Declared = group('onnx', 'inspect, change and compare ONNX files', [...READERS, ...CONVERTERS, ...EDITORS]);
