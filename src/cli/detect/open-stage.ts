/** How is the detector of a stage opened on this machine, and what has to be said first? */

import { makeStopwatch } from '../../detection/detector/measure.js';
import { openDetector } from '../../detection/open-detector.js';
import { readDefinition } from '../../detection/read-definition.js';
import { examineStages } from '../../engine/insight/status/status.js';
import type { Plan } from '../../engine/model/plan.js';
import type { SessionOptions } from '../../runtime/session/session.js';
import { readJsonFile } from '../../stage/json-file.js';
import { makeEnginePorts, neverAborted } from '../engine-ports.js';
import type { Console } from '../render/console.js';
import type { TimedDetector } from './detect-picture.js';
import type { BuiltDetector } from './find-detector.js';

export interface OpenStage extends TimedDetector {
  readonly categories: ReadonlyMap<number, string>;
}

/** With the stage's own config, fit policy and optimisation level. @throws DetectionError of recipes, configs and models. */
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

/** What was built last is taken, also where the pipeline has changed since; and models run here, also where the stage has another device. */
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
      `warning[${CHANGED}]: ${changed.join(', ')} would be built anew: what the last build left is taken\n  help: ${toBuild(changed)}`,
    );
  for (const { stage, params } of built)
    if (params.runner === 'external')
      console.problem('warning', `warning[${DEVICE}]: ${stage} runs its models on a device; here they run on this machine's CPU`);
}
