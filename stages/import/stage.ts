/** Declaration of the `import` plugin: reads any ONNX file with external data, and writes one file with a known operator set and static shapes. */

import { EXTERNAL_DATA_SUFFIXES, listExternalLocations } from '../../src/onnx/serde/external-names.js';
import { defineStage } from '../../src/stage/define-stage.js';
import { port } from '../../src/stage/ports.js';
import { IMPORT_PARAMS } from './params.js';

export const importStage = defineStage({
  name: 'import',
  version: 2,
  description: 'Imports an existing ONNX model: checks it, converts its operator set, pins shapes, and cuts off preprocessing.',
  params: IMPORT_PARAMS,
  inputs: {
    model: port('onnx-model', 'Any ONNX file from operator set 7 on.'),
    externalData: port(
      'any',
      "The model's external data: its folder, of which only the files that the model names are read, or its only file. Default: a file beside the source, with the model's name and `.data` or `_data`.",
      { optional: true, beside: { input: 'model', suffixes: EXTERNAL_DATA_SUFFIXES } },
    ),
  },
  outputs: {
    model: port('onnx-model', 'The model with its weights in one file.'),
    report: port('report', 'Pinned, converted, removed and folded nodes; inputs and outputs; the proof.'),
  },
  namedFiles: { port: 'externalData', input: 'model', list: listExternalLocations },
  determinism: 'exact',
  runsModels: 'always',
  run: async job => (await import('./run.js')).runImport(job),
});
