/** COCO figures against recorded figures of pycocotools, on public and on generated data. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Json } from '../../../src/base/json.js';
import { parseCocoDataset } from '../../../src/detection/coco/dataset.js';
import { splitErrors } from '../../../src/detection/coco/errors.js';
import { type CocoFigures, evaluateCoco } from '../../../src/detection/coco/evaluate.js';
import { COCO_FIGURE_NAMES } from '../../../src/detection/coco/figure-names.js';
import { COCO_PARAMS, type CocoParams, type IouType } from '../../../src/detection/coco/params.js';
import { parseCocoResults } from '../../../src/detection/coco/results.js';
import { fixturePath } from '../../support/fixtures.js';
import { maxDifference } from '../../support/max-difference.js';
import { flattenErrors, flattenTide, type RecordedErrors } from '../../support/recorded-errors.js';
import { findSharedFolder } from '../../support/shared-folder.js';

const shared = findSharedFolder();
const read = (path: string): Json => JSON.parse(readFileSync(join(shared ?? '', path), 'utf8')) as Json;
const cases = <T>(path: string): T[] => (shared === undefined ? [] : (read(path) as unknown as T[]));
const statsOf = (figures: CocoFigures): number[] => COCO_FIGURE_NAMES.map(name => figures[name]);

interface Triple {
  readonly name: string;
  readonly iouType: IouType;
  readonly groundTruth: string;
  readonly detections: string;
  readonly stats: number[];
}

interface EdgeCase {
  readonly name: string;
  readonly iouType: IouType;
  readonly params: Readonly<Record<string, unknown>>;
  readonly stats?: number[];
  readonly error?: string;
}

/** One of the recorded result files is a whole data set: its annotations are the results. */
function resultsIn(value: Json): Json {
  return Array.isArray(value) ? value : ((value as { annotations?: Json }).annotations ?? null);
}

function evaluateFiles(truth: string, detections: string, iouType: IouType, params: CocoParams = COCO_PARAMS): number[] {
  const dataset = parseCocoDataset(read(truth));
  return statsOf(evaluateCoco(dataset, parseCocoResults(resultsIn(read(detections)), dataset), iouType, params));
}

function paramsOf({ params }: EdgeCase): CocoParams {
  return {
    ...COCO_PARAMS,
    ...(params.useCats === 0 ? { categories: 'merged' as const } : {}),
    ...(params.iouThrs === undefined ? {} : { iouThresholds: params.iouThrs as number[] }),
    ...(params.recThrs === undefined ? {} : { recallThresholds: params.recThrs as number[] }),
    ...(params.maxDets === undefined ? {} : { maxDetections: params.maxDets as number[] }),
    ...(params.areaRng === undefined ? {} : { areaRanges: [] }),
  };
}

const suite = shared === undefined ? describe.skip : describe;

suite('figures of recorded triples', () => {
  const triples = cases<Triple>('conformance/coco/triples.json');

  it.each(triples.map(triple => [triple.name, triple.iouType, triple] as const))('%s, %s', (_name, iouType, triple) => {
    const stats = evaluateFiles(`conformance/coco/${triple.groundTruth}`, `conformance/coco/${triple.detections}`, iouType);
    // The same operations in double precision; only the order of the final sums differs.
    expect(maxDifference(stats, triple.stats)).toBeLessThan(1e-9);
  });

  it.each(['bbox', 'segm'] as const)('torchvision Mask R-CNN on the shapes, %s', iouType => {
    const recorded = read('shapes/maskrcnn/figures_val.json') as unknown as { figures: Record<IouType, CocoFigures> };
    const stats = evaluateFiles('shapes/data/instances_val.json', 'shapes/maskrcnn/detections_val.json', iouType);
    expect(maxDifference(stats, statsOf(recorded.figures[iouType]))).toBeLessThan(1e-9);
  });
});

suite('kinds of error of recorded triples', () => {
  const recorded = JSON.parse(readFileSync(fixturePath('detection', 'tide-figures.json'), 'utf8')) as Record<string, RecordedErrors>;
  const triples = cases<Triple>('conformance/coco/triples.json').map(triple => [`${triple.name} ${triple.iouType}`, triple] as const);

  it('has one record per triple', () => {
    expect(Object.keys(recorded).sort()).toEqual(triples.map(([name]) => name).sort());
  });

  it.each(triples)('%s: the costs that tidecv finds', (name, { groundTruth, detections, iouType }) => {
    const dataset = parseCocoDataset(read(`conformance/coco/${groundTruth}`));
    const results = parseCocoResults(resultsIn(read(`conformance/coco/${detections}`)), dataset);
    expect(
      maxDifference(flattenErrors(splitErrors(dataset, results, iouType)), flattenTide(recorded[name] as RecordedErrors)),
    ).toBeLessThan(1e-9);
  });
});

suite('edge cases', () => {
  const edges = cases<EdgeCase>('conformance/coco/edge-cases/expected.json').map(one => [one.name, one.iouType, one] as const);
  const run = ({ name, iouType, ...rest }: EdgeCase) =>
    evaluateFiles(
      `conformance/coco/edge-cases/${name}.gt.json`,
      `conformance/coco/edge-cases/${name}.dt.json`,
      iouType,
      paramsOf({ name, iouType, ...rest }),
    );

  it.each(edges.filter(([, , { stats }]) => stats !== undefined))('%s, %s: the figures are equal', (_name, _type, edge) => {
    expect(maxDifference(run(edge), edge.stats ?? [])).toBeLessThan(1e-9);
  });

  it.each(
    edges.filter(([name, , { error }]) => error !== undefined && name !== 'empty_dt'),
  )('%s, %s: refused with a code', (_name, _type, edge) => {
    expect(() => run(edge)).toThrow(expect.objectContaining({ code: expect.stringMatching(/^coco-(field|params|no-region)$/) }));
  });

  it.each(['bbox', 'segm'] as const)('no detection at all, %s: every figure is 0, while pycocotools stops with an IndexError', iouType => {
    expect(new Set(run({ name: 'empty_dt', iouType, params: {} }))).toEqual(new Set([0, -1]));
  });
});
