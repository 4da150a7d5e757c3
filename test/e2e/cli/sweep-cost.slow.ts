/** What a sweep costs: at most twice its evaluations, in inferences and in processor time of one run, because configurations share what comes before. CI takes 64 images and one target. */
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { SWEEP_DOCUMENT } from '../../../src/report/sweep-document.js';
import { parseDocument } from '../../support/parse-document.js';
import { strideOfPoints } from '../../support/rounds.js';
import { DIST, givenShapesProject, type ShapesProject } from '../../support/shapes-project.js';

/** Presets and ranges: six configurations of the published pipeline. */
const AXES = ['-m', 'preset=xint8,a8w8', '-m', 'range=min-max,percentile:99.9,mse'];
const CONFIGURATIONS = 6;

type Case = readonly [name: string, images: number, targets: readonly string[]];
const CASES: readonly Case[] = [
  ['the evaluation alone, on 64 images', 64, ['evaluate-int8']],
  // Minutes: the evaluations, comparisons and estimates of the pipeline as it stands, on its 200 images.
  ...(strideOfPoints() === 1 ? [['every stage with figures, on all images', 200, []] as const] : []),
];

interface Cost {
  readonly inferences: number;
  readonly processorMs: number;
}

describe('a sweep costs at most twice its evaluations', () => {
  let project: ShapesProject;
  afterEach(() => project.remove());

  it.each(CASES)(
    '%s',
    (_name, images, targets) => {
      project = givenShapesProject('all');
      project.edit('pipeline.yaml', pipeline => countingIn(pipeline, images));
      const log = project.path('inferences.log');
      const preload = pathToFileURL(`${DIST}/test/support/count-inferences.js`).href;
      project.place([], { COUNT_INFERENCES: log, NODE_OPTIONS: `--import=${preload}` });
      const { exitCode, stdout, stderr } = project.tanren('sweep', ...targets, ...AXES, '--json');
      expect([exitCode, exitCode === 0 ? '' : stderr]).toEqual([0, '']);
      expect(parseDocument(SWEEP_DOCUMENT, JSON.parse(stdout)).configurations.map(({ status }) => status)).toEqual(
        Array(CONFIGURATIONS).fill('built'),
      );

      const costs = readCosts(log);
      const evaluations = costs.get('evaluate') ?? { inferences: 0, processorMs: 0 };
      const total = sumOf([...costs.values()]);
      process.stderr.write(
        `${targets.join(' ')}: ${total.inferences} inferences for ${evaluations.inferences} of evaluations, ${(total.processorMs / 1000).toFixed(1)} s of processor time for ${(evaluations.processorMs / 1000).toFixed(1)} s\n`,
      );
      // Each image passes backbone and heads in float and in every configuration; the heads have nothing to do in some.
      expect(evaluations.inferences).toBeGreaterThan((CONFIGURATIONS + 1) * images * 2);
      expect(total.inferences).toBeLessThanOrEqual(2 * evaluations.inferences);
      expect(total.processorMs).toBeLessThanOrEqual(2 * evaluations.processorMs);
    },
    900_000,
  );
});

/** Every stage hands on what its process counts; gates are those of all images. */
function countingIn(pipeline: string, images: number): string {
  return pipeline
    .replaceAll(/^ {4}gate: .*\n/gm, '')
    .replaceAll(/^ {4}uses: evaluate$/gm, `    uses: evaluate\n    with: {samples: ${images}}`)
    .replaceAll(/^( {4}uses: \S+)$/gm, '$1\n    env: [NODE_OPTIONS, COUNT_INFERENCES]');
}

/** By plugin; `none` is the command itself. */
function readCosts(log: string): ReadonlyMap<string, Cost> {
  const costs = new Map<string, Cost>();
  const used = new Map<string, number>();
  for (const line of readFileSync(log, 'utf8').split('\n').filter(Boolean)) {
    const [pid = '', plugin = '', what = '', micros = ''] = line.split(' ');
    const sum = costs.get(plugin) ?? { inferences: 0, processorMs: 0 };
    const before = used.get(pid) ?? 0;
    used.set(pid, Number(micros));
    costs.set(plugin, {
      inferences: sum.inferences + (what === 'inference' ? 1 : 0),
      processorMs: sum.processorMs + Math.max(0, Number(micros) - before) / 1000,
    });
  }
  return costs;
}

function sumOf(costs: readonly Cost[]): Cost {
  return costs.reduce((sum, cost) => ({ inferences: sum.inferences + cost.inferences, processorMs: sum.processorMs + cost.processorMs }), {
    inferences: 0,
    processorMs: 0,
  });
}
