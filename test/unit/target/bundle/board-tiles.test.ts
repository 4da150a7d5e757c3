/** The tiles of a canvas on the board lie where this project's hosts lay them, and rows come back from them. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fillMask, packTiles } from '../../../../src/detection/tiles/pack-tiles.js';
import { makeTensor } from '../../../../src/tensor/tensor.js';
import { PROJECT } from '../../../support/shapes-project.js';
import { describeWithPython } from '../../../support/stub-onnxruntime.js';

const GRID = [2, 2] as const;
const CANVAS = { name: 'x', channels: 2, tile: [2, 3], pitch: [3, 5] } as const;
const COUNT = 5;
const SIZE = 12;

/** Doubles a canvas, and prints what it was given and the rows that came back. */
const PROGRAM = `
import json, sys
sys.dont_write_bytecode = True
sys.path.insert(0, ${JSON.stringify(join(PROJECT, 'src/target/bundle/board'))})
import numpy as np
from tanren_host.tiles import run_tiles

class Model:
    calls = []
    def run_once(self, feeds, names):
        self.calls.append({name: [list(value.shape), value.ravel().tolist()] for name, value in feeds.items()})
        return [2 * feeds["x"]]

model, canvas = Model(), json.loads(sys.argv[1])
step = {"model": "m", "grid": [2, 2], "inputs": [canvas], "outputs": [{**canvas, "name": "y"}], "masks": [{**canvas, "name": "mask"}]}
rows = np.arange(1, 61, dtype=np.float32).reshape(5, 2, 2, 3)
found = run_tiles({"m": model}, [step], {"x": rows}, ["y"])["y"]
print(json.dumps({"calls": model.calls, "shape": list(found.shape), "rows": found.ravel().tolist()}))
`;

describeWithPython('tiles on the board', () => {
  it('are packed as by the hosts of this project, masks included, and unpacked to rows', () => {
    const { stdout, stderr } = spawnSync('python3', ['-c', PROGRAM, JSON.stringify(CANVAS)], { encoding: 'utf8' });
    expect(stderr).toBe('');
    const rows = makeTensor(
      'float32',
      [COUNT, SIZE],
      Float32Array.from({ length: COUNT * SIZE }, (_, at) => at + 1),
    );
    const listed = ({ dims, data }: ReturnType<typeof packTiles>) => [[...dims], [...data]];
    const mask = listed(fillMask(CANVAS, GRID));
    expect(JSON.parse(stdout)).toEqual({
      calls: [0, 4].map(start => ({ x: listed(packTiles(rows, start, CANVAS, GRID)), mask })),
      shape: [COUNT, 2, 2, 3],
      rows: Array.from(rows.data, value => 2 * value),
    });
  });
});
