/** What are a stage's metrics? The content of its port of that kind; by port where it has several. */
import type { JsonObject } from '../../base/json.js';
import { isJsonObject } from '../../base/json.js';
import { EngineError } from '../model/engine-error.js';
import { joinMetrics } from '../model/metrics.js';
import type { PlannedStage } from '../model/plan.js';
import { parseJson } from '../store/files/tree.js';

/** @param readText of an output; undefined where it was not written. @throws EngineError `metrics-malformed`. */
export function readMetrics({ outputPorts }: PlannedStage, readText: (port: string) => string | undefined): JsonObject | undefined {
  const found: [string, JsonObject][] = [];
  for (const [port, { kind }] of Object.entries(outputPorts)) {
    const text = kind === 'metrics' ? readText(port) : undefined;
    if (text === undefined) continue;
    const metrics = parseJson(text);
    if (!isJsonObject(metrics)) throw new EngineError('metrics-malformed', `output "${port}" is no JSON object: its kind is metrics`);
    found.push([port, metrics]);
  }
  return joinMetrics(found);
}
