/** Opens the detector of a stage on this machine, and warns about differences from the stage's own run. */

import { makeStopwatch } from '../../../detection/detector/measure.js';
import { openDetector } from '../../../detection/open-detector.js';
import { readDefinition } from '../../../detection/read-definition.js';
import { examineStages } from '../../../engine/insight/status/status.js';
import type { Plan } from '../../../engine/model/plan.js';
import type { SessionOptions } from '../../../runtime/session/session.js';
import { readJsonFile } from '../../../stage/json-file.js';
import { makeEnginePorts, neverAborted } from '../../pipeline/engine-ports.js';
import type { Console } from '../../terminal/console.js';
import type { TimedDetector } from './detect-picture.js';
import type { BuiltDetector } from './find-detector.js';

export interface OpenStage extends TimedDetector {
  readonly categories: ReadonlyMap<number, string>;
}

/** Opens the detector with the stage's own config, fit policy and optimization level. @throws DetectionError of recipes, configs and models. */
export async function openStage({ stage, parts, recipe, config, params }: BuiltDetector, threads: number): Promise<OpenStage> {
  const definition = readDefinition({
    recipe: await readJsonFile(recipe),
    config: config === undefined ? undefined : await readJsonFile(config),
    fit: params.fit === 'static' || params.fit === 'torchvision' ? params.fit : undefined,
  });
  const watch = makeStopwatch(() => performance.now());
  const options = { optimization: levelOf(params.optimization), threads, measure: watch.measure };
  const detector = await openDetector({ definition, models: { kind: 'parts', parts } }, options);
  return { stage, detector, watch, categories: definition.categories };
}

function levelOf(value: unknown): SessionOptions['optimization'] {
  return value === 'disabled' || value === 'basic' || value === 'extended' ? value : 'all';
}

const [CHANGED, DEVICE] = ['detector-changed', 'detector-device'];

/**
 * Warns if the pipeline has changed since the last build, and if the stage uses another device than this machine's CPU.
 * The result of the last build is used in either case.
 */
export async function warnOfDifferences(
  plan: Plan,
  built: readonly BuiltDetector[],
  console: Console,
  toBuild: (stages: readonly string[]) => string,
): Promise<void> {
  const makers = [...new Set(built.flatMap(({ madeBy }) => madeBy))];
  const ports = makeEnginePorts(() => undefined, neverAborted);
  const examined = makers.length === 0 ? [] : [...(await examineStages(plan, { targets: makers, force: 'never' }, ports))];
  const changed = examined.filter(([stage, { status }]) => makers.includes(stage) && status.kind !== 'up-to-date').map(([stage]) => stage);
  if (changed.length > 0)
    console.problem(
      'warning',
      `warning[${CHANGED}]: ${changed.join(', ')} is out of date: the result of the last build is used\n  help: ${toBuild(changed)}`,
    );
  for (const { stage, params } of built)
    if (params.runner === 'external')
      console.problem('warning', `warning[${DEVICE}]: ${stage} runs its models on a device; here they run on this machine's CPU`);
}
