/** Compares a model with captured tensors: runs it on the captured inputs and compares its outputs with the captured ones. */

import { compareValues, type ValueComparisons } from '../../src/detection/compare/compare-parts.js';
import { openCaptured } from '../../src/runtime/capture/captured.js';
import type { OpenModel } from '../../src/runtime/session/session.js';
import { nameSample } from '../../src/stage/name-sample.js';
import { getInputPath, getInputRecord } from '../../src/stage/paths.js';
import { readFixedBatch, runOnFeeds, takeCaptured, toFloats } from './captured-runs.js';
import type { VerifyJob } from './params.js';
import { summarize } from './report.js';
import { withOpened } from './sides.js';
import type { Summary } from './summary.js';

/** @throws RuntimeError `bad-capture`, `capture-part`, `capture-mismatch`; DetectionError `part-values`. */
export async function compareCaptured(
  job: VerifyJob,
  openCandidate: OpenModel,
): Promise<{ readonly summary: Summary; readonly samples: readonly string[] }> {
  const { params, context } = job;
  const captured = await openCaptured(getInputPath(job.inputs, 'reference'));
  const values: ValueComparisons[] = [];
  const used = new Set<string>();
  for (const [part, path] of candidatesOf(job)) {
    const batch = await readFixedBatch(path);
    await withOpened([openCandidate(path, { optimization: params.optimization })] as const, async ([session]) => {
      for (const sample of takeCaptured(captured, part, params.samples)) {
        context.signal.throwIfAborted();
        used.add(sample.id);
        values.push(
          await nameSample(`sample ${sample.id}, part ${part}`, async () => {
            const found = await runOnFeeds(session, await captured.read(sample, part, 'input'), batch);
            return compareValues(toFloats(await captured.read(sample, part, 'output')), toFloats(found));
          }),
        );
      }
    });
  }
  const ids = captured.index.samples.map(({ id }) => id);
  return { summary: summarize(values, undefined), samples: ids.filter(id => used.has(id)) };
}

function candidatesOf({ params, inputs }: VerifyJob): readonly (readonly [part: string, path: string])[] {
  if (params.candidate === 'model') return [[params.part ?? 'model', getInputPath(inputs, 'candidate')]];
  return Object.entries(getInputRecord(inputs, 'candidate'));
}
