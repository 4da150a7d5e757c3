/** Declaration of `report`: one HTML page about the results of the other stages. */
import { defineStage } from '../../src/stage/define-stage.js';
import { port, recordPort } from '../../src/stage/ports.js';
import type { ReportParams } from './params.js';

const optional = { optional: true } as const;

export const report = defineStage<ReportParams>({
  name: 'report',
  version: 1,
  description: 'Puts what the other stages found on one page for a browser: one HTML file that loads nothing from anywhere.',
  params: {
    type: 'object',
    additionalProperties: false,
    properties: {
      title: { type: 'string', minLength: 1, maxLength: 200, default: 'Tanren report', description: 'Heading of the page.' },
      order: {
        type: 'array',
        items: { type: 'string' },
        uniqueItems: true,
        default: ['float', 'split', 'simplify', 'rewritten', 'rewrite', 'int8', 'quantize', 'backbone', 'box_head', 'mask_head'],
        description: 'Names of entries in the order in which tables show them; others follow by name.',
      },
      tensors: {
        type: 'integer',
        minimum: 0,
        maximum: 1000,
        default: 24,
        description: 'How many tensors have their histogram drawn: those that lose most.',
      },
      overlays: {
        type: 'object',
        additionalProperties: false,
        default: {},
        description: 'Images with the detections of both sides.',
        properties: {
          images: { type: 'integer', minimum: 0, maximum: 100, default: 4, description: 'How many.' },
          choose: {
            type: 'string',
            enum: ['differ', 'first'],
            default: 'differ',
            description: 'differ: images on which the two sides differ most. first: the first by id.',
          },
          minScore: {
            type: 'number',
            minimum: 0,
            maximum: 1,
            default: 0.5,
            description: 'Detections below are not drawn, and not compared.',
          },
          changes: {
            type: 'integer',
            minimum: 0,
            maximum: 200,
            default: 12,
            description: 'How many objects that are lost, found or changed have a row with pictures, the worst first.',
          },
          size: {
            type: 'integer',
            minimum: 64,
            maximum: 2048,
            default: 512,
            description: 'Longer side of the embedded images, in pixels.',
          },
        },
      },
    },
  },
  inputs: {
    metrics: recordPort('any', 'Metrics of `evaluate` by name: columns of the accuracy tables, the first and the last compared.', {
      kind: 'metrics',
      ...optional,
    }),
    verify: recordPort('any', 'Reports of `verify` by name.', { kind: 'report', ...optional }),
    quantization: recordPort('any', 'Reports of `quantize` by part.', { kind: 'report', ...optional }),
    sketches: recordPort('any', 'Sketches of `calibrate` by part.', { kind: 'sketches', ...optional }),
    compile: recordPort('any', 'Reports of `compile` by name.', { kind: 'report', ...optional }),
    bench: recordPort('any', 'Reports of `bench` by name.', { kind: 'report', ...optional }),
    detections: recordPort('any', 'Detections of `evaluate` by name: the first and the last are drawn side by side.', {
      kind: 'detections',
      ...optional,
    }),
    data: recordPort({ annotations: 'annotations', images: 'images' }, 'What the detections are of.', optional),
  },
  outputs: { page: port('page', 'The page.') },
  // It says how the stages before it ended, and how long they took.
  needs: 'build-summary',
  determinism: 'measured',
  runsModels: 'never',
  run: async job => (await import('./run.js')).runReport(job),
});
