/** Measures onnxruntime.quantization on the same model, if Python has it; otherwise reports that it is missing. */
import { spawnSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { encodeNpy } from '../src/tensor/formats/npy.js';
import { makeFullSizeInput } from './full-size-backbone.js';
import { printTable } from './table.js';

const SAMPLES = 8;
const PYTHON = 'python3';
const SCRIPT = fileURLToPath(new URL('../../bench/peer_quantize.py', import.meta.url));

/** Quantizes `model` completely, including calibration, as this tool does after every change. `folder` is for the samples. */
export async function measurePeer(model: string, folder: string): Promise<void> {
  if (spawnSync(PYTHON, ['-c', 'import onnx, onnxruntime.quantization'], { stdio: 'ignore' }).status !== 0) {
    console.log(`  ${PYTHON} has no onnxruntime.quantization here: a full recalibration by it is not measured`);
    return;
  }
  const samples = join(folder, 'peer-samples');
  await mkdir(samples);
  for (let i = 0; i < SAMPLES; i++) await writeFile(join(samples, `${i}.npy`), encodeNpy(makeFullSizeInput(i)));
  const rows = ['MinMax', 'Percentile'].map(method => [method, ...runPeer(model, samples, method)]);
  printTable(`onnxruntime.quantization, calibration and quantization with ${SAMPLES} samples, once each`, [['', 's', 'peak, MB'], ...rows]);
}

function runPeer(model: string, samples: string, method: string): readonly string[] {
  const { status, stdout, stderr } = spawnSync(PYTHON, [SCRIPT, model, samples, method], { encoding: 'utf8' });
  if (status !== 0) return [`failed: ${stderr.trim().split('\n').at(-1) ?? ''}`, ''];
  const { seconds, peakBytes } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}') as { seconds: number; peakBytes: number };
  return [seconds.toFixed(1), (peakBytes / 1e6).toFixed(0)];
}
