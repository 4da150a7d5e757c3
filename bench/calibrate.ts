/** Measures memory and time of `calibrate` against plain inference at the same optimization level, each in a separate process. */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { CalibrateFiles, CalibrateOrder, CalibrateWay, Measured } from './calibrate-process.js';
import type { Example } from './example.js';
import { FULL_SIZE } from './full-size-backbone.js';
import { makeFullSizeProject } from './full-size-project.js';
import { formatRatio, formatSamples, printTable } from './table.js';
import { type Samples, summarize } from './timing.js';

interface Case {
  readonly name: string;
  readonly files: CalibrateFiles;
  readonly samples: number;
  readonly rounds: number;
  readonly ways: readonly CalibrateWay[];
}

const TITLES: Readonly<Record<CalibrateWay, string>> = {
  plain: 'plain inference',
  calibrate: 'calibrate',
  'second-pass': 'calibrate, compat: ort (two passes)',
};

export async function measureCalibrate(example: Example): Promise<void> {
  const { project } = example.get();
  const data = project.path('examples/shapes/data');
  await measureCase({
    name: 'calibrate@backbone of the example',
    files: {
      model: project.path('artifacts/rewrite/model.onnx'),
      recipe: project.path('artifacts/export/recipe.json'),
      annotations: `${data}/instances_calib.json`,
      images: `${data}/calib`,
    },
    samples: 16,
    rounds: 3,
    ways: ['plain', 'calibrate'],
  });
}

/** The 544×960 backbone. Doubling the samples shows whether memory grows with them. */
export async function measureCalibrateFullSize(): Promise<void> {
  const project = await makeFullSizeProject(16);
  try {
    for (const samples of [8, 16]) {
      const name = `maskrcnn_resnet50_fpn_v2's backbone at ${FULL_SIZE.height}×${FULL_SIZE.width}`;
      const ways: readonly CalibrateWay[] = samples === 8 ? ['plain', 'calibrate', 'second-pass'] : ['plain', 'calibrate'];
      await measureCase({ name, files: project.files, samples, rounds: samples === 8 ? 2 : 1, ways });
    }
  } finally {
    await project.remove();
  }
}

async function measureCase({ name, files, samples, rounds, ways }: Case): Promise<void> {
  const measured = new Map<CalibrateWay, Measured[]>(ways.map(way => [way, []]));
  for (let round = 0; round < rounds; round++) {
    for (const way of ways) measured.get(way)?.push(await inProcess({ way, files, samples }));
  }
  const of = (way: CalibrateWay, value: (one: Measured) => number): Samples => summarize((measured.get(way) ?? []).map(value));
  const plain = { ms: of('plain', one => one.ms).median, cpuMs: of('plain', one => one.cpuMs).median };
  const megabytes = 4e-6 * of('calibrate', one => one.elements).median;
  const rows = ways.map(way => [
    TITLES[way],
    formatSamples(of(way, one => one.ms / 1000)),
    formatRatio(of(way, one => one.ms).median, plain.ms),
    formatSamples(of(way, one => one.cpuMs / 1000)),
    formatRatio(of(way, one => one.cpuMs).median, plain.cpuMs),
    formatSamples(of(way, one => one.peakBytes / 1e6)),
    `${((100 * of(way, one => one.peakBytes - one.openedBytes).median) / 1e6 / megabytes).toFixed(0)} %`,
  ]);
  printTable(
    `${name}: ${samples} samples, all float activations together ${megabytes.toFixed(0)} MB; median (quartiles) of ${rounds}, interleaved`,
    [['', 's', 'of plain', 'CPU s', 'of plain', 'peak, MB', 'of all activations, over what was open before'], ...rows],
  );
}

function inProcess(order: CalibrateOrder): Promise<Measured> {
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(new URL('calibrate-process.js', import.meta.url)), [JSON.stringify(order)]);
    child.on('message', message => resolve(message as Measured));
    child.on('error', reject);
    child.on('exit', code => reject(new Error(`the measured process ended with ${code}`)));
  });
}
