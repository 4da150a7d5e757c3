/** Detections that a network selects, as `detector.py` reads them, with and without a dim of the batch. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { PROJECT } from '../../../support/shapes-project.js';
import { describeWithPython } from '../../../support/stub-onnxruntime.js';

const PROGRAM = `
import json, sys
sys.dont_write_bytecode = True
sys.path.insert(0, ${JSON.stringify(join(PROJECT, 'src/target/bundle/board'))})
import numpy as np
from tanren_host.decoders import select_detections
from tanren_host.errors import Refused
decoder = {"scores": "s", "boxes": "b", "classes": "c", "firstClass": 1, "masks": {"output": "m", "threshold": 0.5}}
given = json.load(sys.stdin)
try:
    print(json.dumps([array.tolist() for array in select_detections(decoder, {name: np.array(one) for name, one in given.items()}, 2)]))
except Refused as refusal:
    print(json.dumps({"refused": refusal.code}))
`;

function select(given: object): unknown {
  const { stdout, stderr } = spawnSync('python3', ['-c', PROGRAM], { encoding: 'utf8', input: JSON.stringify(given) });
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

describeWithPython('detections that a network selects, in detector.py', () => {
  const plain = {
    s: [0.5, 0.25],
    b: [
      [1, 2, 3, 4],
      [5, 6, 7, 8],
    ],
    c: [2, 1],
    m: [
      [[[0]], [[1]], [[2]]],
      [[[3]], [[4]], [[5]]],
    ],
  };
  const batched = Object.fromEntries(Object.entries(plain).map(([name, values]) => [name, [values]]));

  it('have boxes, scores, classes counted from 0, and the mask of their class', () => {
    expect(select(plain)).toEqual([plain.b, plain.s, [1, 0], [[[2]], [[4]]]]);
  });

  it('are the same with a first dim of 1', () => {
    expect(select(batched)).toEqual(select(plain));
  });

  it('are refused where the counts differ', () => {
    expect(select({ ...plain, s: [0.5] })).toEqual({ refused: 'part-values' });
  });
});
