/** Commands that run a built detector, explain a quantized tensor, check a model for a target, or read what a board reports. */
import { ROUNDING_MODES } from '../../runtime/device/runner-params.js';
import { command, type Declared, group } from './command.js';
import { choice, flag, named, optional, required, value } from './option.js';
import { json, PIPELINE } from './shared-options.js';
import { parseCount, parseDay, parseNumber, parseSize, parseText } from './values.js';

const DEVICES = ['cpu', 'npu'] as const;

export const MODELS: readonly Declared[] = [
  command({
    words: 'detect <stages-then-images...>',
    usage: '[options] <stage...> <image-or-folder>',
    description: 'detect objects in your own pictures with the detector that a stage such as `evaluate` runs; several stages are compared',
    options: {
      ...PIPELINE,
      json,
      output: optional(
        '-o, --output <path>',
        'FILE.json: a COCO document of the detections; any other path: a folder for that document and a PNG per picture',
        parseText,
      ),
      minScore: value(
        '--min-score <number>',
        'lowest score of objects that are listed, drawn and tracked',
        parseNumber('a number from 0 to 1', 0, 1),
        {
          value: 0.5,
          shown: '0.5',
        },
      ),
      frames: flag('--frames', 'treat the pictures of a folder as frames of a video: report how stable boxes, masks and scores are'),
      threads: value('--threads <n>', 'threads inside an operator', parseCount, { value: 1, shown: '1' }),
    },
    after:
      'Examples:\n  tanren detect evaluate-int8 photo.jpg -o found\n  tanren detect evaluate-float evaluate-int8 frames/ --frames --json',
    run: async (words, options) => (await import('../commands/detect/detect.js')).runDetect(words, options),
  }),
  group('quant', 'show how a model was quantized', [
    command({
      words: 'explain <model-or-stage> <tensor>',
      description: 'show how one tensor was quantized, why, and the error that results; for a QDQ model (.onnx) what the file states',
      options: { ...PIPELINE, json },
      after:
        'Examples:\n  tanren quant explain quantize@backbone feature_0\n  tanren quant explain artifacts/quantize@box_head/model.onnx class_logits',
      run: async ([where = '', tensor = ''], options) =>
        (await import('../commands/models/quant-explain.js')).runQuantExplain(where, tensor, options),
    }),
    command({
      words: 'sensitivity <stage>',
      description: 'rank the layers of a quantized model by what they cost, from a built `sensitivity` stage',
      options: { ...PIPELINE, json, all: flag('--all', 'list every layer') },
      after:
        'The stage is a `sensitivity` stage, or one whose model such a stage measures.\nExample:\n  tanren quant sensitivity quantize@backbone',
      run: async ([stage = ''], options) => (await import('../commands/models/quant-sensitivity.js')).runQuantSensitivity(stage, options),
    }),
  ]),
  command({
    words: 'lint <model>',
    description: 'list the nodes of a model that an NPU would not run, and why; exit code 1 if there are any',
    options: {
      json,
      target: required('-t, --target <name>', 'ryzen-ai, generic-int8, or the path of a profile (.json)', parseText),
      device: optional('--device <name>', "one of the profile's devices", parseText),
      dtype: optional('--dtype <name>', "one of the profile's data types", parseText),
      software: optional('--software <version>', "version of the vendor's software", parseText),
      undocumented: choice('--undocumented <where>', "where to place nodes that the vendor's documents do not mention", DEVICES, 'cpu'),
      largerBatch: choice(
        '--larger-batch <where>',
        'where to place a model with a batch above 1 that only an assumption of the profile excludes',
        DEVICES,
        'cpu',
      ),
      pin: named('--pin <name=size>', 'size of a dynamic dim of an input', parseSize('box_rois=16')),
      all: flag('--all', 'list every node'),
    },
    after: 'Example:\n  tanren lint artifacts/quantize@backbone/model.onnx --target ryzen-ai --device stx-krk --dtype xint8',
    run: async ([model = ''], options) => (await import('../commands/models/lint.js')).runLint(model, options),
  }),
  command({
    words: 'compare-dumps <model> <folder>',
    description:
      'compare tensors that a device dumped with the simulation of a quantized model, layer by layer; exit code 1 if one deviates',
    options: {
      json,
      rounding: choice(
        '--rounding <mode>',
        'how the device rounds sums; auto: the one with the fewest deviations',
        ['auto', ...ROUNDING_MODES],
        'auto',
      ),
      layout: choice('--layout <order>', 'order of the elements in the dumps', ['nchw', 'nhwc'], 'nchw'),
      tolerance: value('--tolerance <steps>', 'steps by which a result may be off', parseNumber('a number from 0 to 65535', 0, 65_535), {
        value: 0,
        shown: '0',
      }),
      pin: named('--pin <name=size>', 'size of a dynamic dim of an input', parseSize('box_rois=16')),
      all: flag('--all', 'list every dumped value'),
    },
    after:
      'Files are .npy, or .bin and .raw without a header, named after their tensors.\nThe inputs of the model belong to them.\nExample:\n  tanren compare-dumps artifacts/quantize@backbone/model.onnx dumps/ --rounding pow2-dpu',
    run: async ([model = '', folder = ''], options) =>
      (await import('../commands/models/compare-dumps.js')).runCompareDumps(model, folder, options),
  }),
  group('estimate', 'show latency estimates by layer, and fit them to measurements', [
    command({
      words: 'show <report>',
      description: 'list the layers of compiled models with multiply-accumulates, bytes, what bounds them, time and share',
      options: {
        json,
        trace: optional('--trace <file>', 'write a timeline in the Trace Event Format, which Perfetto opens', parseText),
        all: flag('--all', 'list every layer, in the order of execution (default: the longest ones)'),
      },
      after: 'Example:\n  tanren estimate show artifacts/compile/report.json --trace trace.json',
      run: async ([report = ''], options) => (await import('../commands/models/estimate-show.js')).runEstimateShow(report, options),
    }),
    command({
      words: 'fit <files...>',
      usage: '[options] <compile-report> <measurements...>',
      description: 'fit the constants of estimates to times that a device measured, and show what is left between them',
      options: {
        json,
        output: optional(
          '-o, --output <profile>',
          'write a target profile (.json) with the constants; an existing one is extended',
          parseText,
        ),
      },
      after:
        'Measurements are reports of a stage `bench` with a device, or of\n`runner.py check --json`.\nExample:\n  tanren estimate fit artifacts/compile/report.json measured.json -o my-board.json',
      run: async (files, options) => (await import('../commands/models/estimate-fit.js')).runEstimateFit(files, options),
    }),
  ]),
  command({
    words: 'board-report <files...>',
    usage: '[options] <file-or-folder...>',
    description: "show where the nodes of a model ran on a board, and why, from the logs and reports of the vendor's runtime",
    options: {
      json,
      predicted: optional(
        '--predicted <path>',
        'prediction of a bundle (report/NAME.predicted.json); exit code 1 if nodes ran elsewhere',
        parseText,
      ),
      output: optional('-o, --output <path>', "write the vendor's report with the reasons, for `runner.py diff-report`", parseText),
      learn: optional(
        '--learn <profile>',
        'add what the run proves to this profile (.json), which is created if it does not exist',
        parseText,
      ),
      target: value('-t, --target <name>', 'built-in profile that a new profile begins with', parseText, {
        value: 'ryzen-ai',
        shown: 'ryzen-ai',
      }),
      device: optional('--device <name>', 'device of the run, if the files do not name it', parseText),
      dtype: optional('--dtype <name>', 'data type of the model, for --learn', parseText),
      software: optional('--software <version>', "version of the vendor's software, for --learn", parseText),
      date: optional('--date <yyyy-mm-dd>', 'day of the run, for --learn (default: that of the newest file)', parseDay),
      all: flag('--all', 'list every operator and every node off the NPU'),
    },
    after:
      'Examples:\n  tanren board-report run/ session.log\n  tanren board-report run/ --learn my-board.json --dtype xint8 --software 1.7.1',
    run: async (words, options) => (await import('../commands/models/board-report.js')).runBoardReport(words, options),
  }),
];
