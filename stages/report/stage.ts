/** Declaration of `report`: one HTML page about the results of the other stages. */
import { defineStage } from '../../src/stage/define-stage.js';
import { port, recordPort } from '../../src/stage/ports.js';
import { REPORT_PARAMS } from './params.js';

const optional = { optional: true } as const;

export const report = defineStage({
  name: 'report',
  version: 1,
  description: 'Shows the results of other stages on one page: an HTML file that loads no other files.',
  params: REPORT_PARAMS,
  inputs: {
    metrics: recordPort('any', 'Metrics of `evaluate` by name: columns of the accuracy tables, the first and the last compared.', {
      kind: 'metrics',
      ...optional,
    }),
    verify: recordPort('any', 'Reports of `verify` by name.', { kind: 'report', ...optional }),
    quantization: recordPort('any', 'Reports of `quantize` by part.', { kind: 'report', ...optional }),
    recovery: recordPort('any', 'Reports of `correct-biases` and `round-weights` by name.', { kind: 'report', ...optional }),
    sensitivity: recordPort('any', 'Reports of `sensitivity` by name.', { kind: 'report', ...optional }),
    sweeps: recordPort('any', 'Rows of sweeps by name, as `tanren sweep -o sweep.json` writes them.', { kind: 'json', ...optional }),
    sketches: recordPort('any', 'Sketches of `calibrate` by part.', { kind: 'sketches', ...optional }),
    compile: recordPort('any', 'Reports of `compile` by name.', { kind: 'report', ...optional }),
    bench: recordPort('any', 'Reports of `bench` by name.', { kind: 'report', ...optional }),
    detections: recordPort('any', 'Detections of `evaluate` by name: the first and the last are drawn side by side.', {
      kind: 'detections',
      ...optional,
    }),
    models: recordPort('any', 'Models by name, for the view Model.', { kind: 'onnx-model', ...optional }),
    data: recordPort({ annotations: 'annotations', images: 'images' }, 'The data set of the detections.', optional),
  },
  outputs: { page: port('page', 'The page.') },
  // The summary has outcome and duration of the stages before this one.
  needs: 'build-summary',
  determinism: 'measured',
  runsModels: 'never',
  run: async job => (await import('./run.js')).runReport(job),
});
