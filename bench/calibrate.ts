/** What does `calibrate` hold and cost beside plain inference? The stage's own run over the example's calibration images, each way in a process of its own. */
import { fork } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Json, JsonObject } from '../src/base/json.js';
import { isJsonObject } from '../src/base/json.js';
import type { ShapesProject } from '../test/support/shapes-project.js';
import type { CalibrateOrder, CalibrateWay, Measured } from './calibrate-process.js';
import type { Example } from './example.js';
import { formatRatio, formatSamples, printTable } from './table.js';
import { type Samples, summarize } from './timing.js';

const SAMPLES = 16;
const ROUNDS = 3;
const WAYS: readonly CalibrateWay[] = ['plain', 'calibrate'];

export async function measureCalibrate(example: Example): Promise<void> {
  const { project } = example.get();
  const activations = await activationBytes(project);
  const measured = new Map<CalibrateWay, Measured[]>(WAYS.map(way => [way, []]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const way of WAYS) measured.get(way)?.push(await inProcess({ way, project: project.folder, samples: SAMPLES }));
  }
  const of = (way: CalibrateWay, value: (one: Measured) => number): Samples => summarize((measured.get(way) ?? []).map(value));
  const overOpened = (way: CalibrateWay): Samples => of(way, one => megabytes(one.peakBytes - one.openedBytes));
  const share = (samples: Samples): string => `${(100 * (samples.median / megabytes(activations))).toFixed(1)} %`;
  const row = (name: string, way: CalibrateWay): readonly string[] => [
    name,
    formatSamples(of(way, one => megabytes(one.peakBytes))),
    formatSamples(of(way, one => megabytes(one.peakBytes - one.loadedBytes))),
    formatSamples(overOpened(way)),
    share(overOpened(way)),
    formatSamples(of(way, one => one.ms / 1000)),
  ];
  printTable(
    `calibrate@backbone: ${SAMPLES} samples, all float activations together ${megabytes(activations).toFixed(0)} MB; peak of the process in MB, median (quartiles) of ${ROUNDS}, in turn`,
    [
      ['', 'peak', 'over modules loaded', 'over session opened', 'of all activations (aim < 10 %)', 's'],
      row('plain inference', 'plain'),
      row('calibrate', 'calibrate'),
    ],
  );
  const [calibrate, plain] = [of('calibrate', one => one.ms).median, of('plain', one => one.ms).median];
  console.log(`  calibrate takes ${formatRatio(calibrate, plain)} the time of plain inference`);
}

function megabytes(bytes: number): number {
  return bytes / 1e6;
}

/** All elements that were sketched, as float32: counted by the stage itself. */
async function activationBytes(project: ShapesProject): Promise<number> {
  const file = JSON.parse(await readFile(project.path('artifacts/calibrate@backbone/report.json'), 'utf8')) as Json;
  const values = isJsonObject(file) && Array.isArray(file.values) ? file.values : [];
  const elements = values.filter(isJsonObject).reduce((sum: number, value: JsonObject) => sum + Number(value.count), 0);
  if (!(elements > 0)) throw new Error("calibrate's report counts no elements");
  return 4 * elements;
}

function inProcess(order: CalibrateOrder): Promise<Measured> {
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(new URL('calibrate-process.js', import.meta.url)), [JSON.stringify(order)]);
    child.on('message', message => resolve(message as Measured));
    child.on('error', reject);
    child.on('exit', code => reject(new Error(`the measured process ended with ${code}`)));
  });
}
