/** Writes the result of a sweep to files. The extension selects the format: .json or .csv. */
import { extname } from 'node:path';
import { CodedError } from '../../../base/coded-error.js';
import { writeFiles } from '../../process/write-files.js';
import { encodeSweep, formatSweepCsv } from './encode-sweep.js';
import type { Sweep } from './sweep-report.js';

/** Checks the extension before anything is built. @throws CodedError `sweep-format`. */
export function checkSweepOutput(path: string): void {
  if (encoderOf(path) !== undefined) return;
  throw new CodedError('sweep-format', `the result of a sweep is not written as "${extname(path)}"`, {
    help: 'name a file that ends in .json or .csv',
  });
}

/** @throws CodedError `sweep-format`, `not-a-file`, `not-writable`. */
export async function writeSweepOutputs(paths: readonly string[], sweep: Sweep): Promise<void> {
  for (const path of paths) checkSweepOutput(path);
  await writeFiles(paths.map(path => ({ path, write: file => file.writeFile(encoderOf(path)?.(sweep) ?? '') })));
}

function encoderOf(path: string): ((sweep: Sweep) => string) | undefined {
  switch (extname(path).toLowerCase()) {
    case '.json':
      return sweep => `${JSON.stringify(encodeSweep(sweep), null, 2)}\n`;
    case '.csv':
      return formatSweepCsv;
    default:
      return undefined;
  }
}
