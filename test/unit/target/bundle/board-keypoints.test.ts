/** The figures of keypoints in `detector.py`, against recorded ones of pycocotools and against our own, which are held to pycocotools. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Json } from '../../../../src/base/json.js';
import { fixturePath } from '../../../support/fixtures.js';
import { PROJECT } from '../../../support/shapes-project.js';
import { describeWithPython } from '../../../support/stub-onnxruntime.js';

const BOARD = join(PROJECT, 'src/target/bundle/board');
const PROGRAM = `
import json, sys
sys.dont_write_bytecode = True
sys.path.insert(0, ${JSON.stringify(BOARD)})
from tanren_host.coco import average_precision, check_sigmas
from tanren_host.errors import Refused
given = json.load(sys.stdin)
file = given["groundTruth"]
try:
    check_sigmas(file, given.get("points", 17), given.get("sigmas"))
    print(json.dumps(average_precision(file, given["results"], sorted(image["id"] for image in file["images"]), given.get("sigmas"))))
except Refused as refusal:
    print(json.dumps({"refused": refusal.code}))
`;

interface Recorded {
  readonly groundTruth: { readonly annotations: readonly { readonly keypoints: readonly number[] }[] };
  readonly results: readonly { readonly keypoints: readonly number[] }[];
  readonly figures: Readonly<Record<string, number>>;
}

const file = JSON.parse(readFileSync(fixturePath('detection', 'keypoints', 'persons.json'), 'utf8')) as Recorded;
/** Objects that the program finds have boxes too. */
const recorded: Recorded = { ...file, results: file.results.map(result => ({ ...result, bbox: [0, 0, 1, 1] })) };

function measure(given: object): Readonly<Record<string, Readonly<Record<string, number>>>> {
  const { stdout, stderr } = spawnSync('python3', ['-c', PROGRAM], { encoding: 'utf8', input: JSON.stringify(given) });
  expect(stderr).toBe('');
  return JSON.parse(stdout) as ReturnType<typeof measure>;
}

describeWithPython('keypoints of detector.py', () => {
  it('have the recorded figures', () => {
    const { keypoints = {} } = measure(recorded);
    expect(Object.keys(keypoints)).toEqual(['AP', 'AP50', 'AP75']);
    // numpy's exponential may differ in the last bit, and the mean of 101 precisions in the order of additions.
    for (const [name, value] of Object.entries(keypoints))
      expect(Math.abs(value - (recorded.figures[name] ?? Number.NaN))).toBeLessThan(1e-12);
    expect(keypoints.AP).toBeGreaterThan(0.1);
  });

  it('have no figures where objects or annotations have none', () => {
    const bare = recorded.results.map(({ keypoints: _, ...result }) => result as Json);
    expect(Object.keys(measure({ ...recorded, results: bare }))).toEqual(['bbox']);
  });

  it('need one standard deviation per point', () => {
    expect(measure({ ...recorded, sigmas: [0.1, 0.2] })).toEqual({ refused: 'keypoint-sigmas' });
    expect(measure({ ...recorded, points: 5 })).toEqual({ refused: 'keypoint-sigmas' });
    const wide = measure({ ...recorded, sigmas: Array.from({ length: 17 }, () => 0.5) });
    expect(wide.keypoints?.AP).toBeGreaterThan(recorded.figures.AP ?? 1);
  });

  it('need their standard deviations before anything is detected', () => {
    const program = `
import sys, types
sys.dont_write_bytecode = True
sys.path.insert(0, ${JSON.stringify(BOARD)})
import detector
def detect_all(*_):
    raise AssertionError("detected")
detector.detect_all = detect_all
detector.open_detector = lambda _: ({}, types.SimpleNamespace(keypoints=5))
arguments = types.SimpleNamespace(annotations="", images=".", samples=None, sigmas=None)
detector.read_annotations = lambda _: ({"annotations": [{"keypoints": [1, 1, 2] * 5}]}, [])
try:
    detector.command_evaluate(arguments)
except detector.Refused as refusal:
    print(refusal.code)
`;
    const { stdout, stderr } = spawnSync('python3', ['-c', program], { encoding: 'utf8' });
    expect([stdout, stderr]).toEqual(['keypoint-sigmas\n', '']);
  });
});
