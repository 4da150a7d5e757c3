/** Reading of a stage's metrics from its output ports of that kind, with bounded size and depth and only numbers that JSON can represent. */
import { findNonFinite } from '../../base/figure.js';
import type { Json, JsonObject } from '../../base/json.js';
import { isJsonObject } from '../../base/json.js';
import type { Artifact } from '../model/artifact.js';
import { EngineError, messageOf } from '../model/engine-error.js';
import { findRepeatedPath, joinMetrics } from '../model/metrics.js';
import type { PlannedStage } from '../model/plan.js';

/** An output and a function that reads its bytes. */
export interface MetricsFile {
  readonly artifact: Pick<Artifact, 'sizeBytes'>;
  readonly read: () => Promise<string | undefined>;
}

/** Limits of metrics, which are stored in the state, in records and in the history. They are single numbers, not tensors. */
const MOST_BYTES = 16_000_000;
const MOST_LEVELS = 64;

const EQUAL_HELP = 'write "equal" for an infinite ratio, such as the SQNR of equal tensors, and null for an unknown value';

/** @param find returns the output of a port; undefined if it was not written. @throws EngineError `metrics-malformed`. */
export async function readMetrics(
  { outputPorts }: PlannedStage,
  find: (port: string) => MetricsFile | undefined,
): Promise<JsonObject | undefined> {
  const found: [string, JsonObject][] = [];
  for (const [port, { kind }] of Object.entries(outputPorts)) {
    const file = kind === 'metrics' ? find(port) : undefined;
    if (file === undefined) continue;
    if (file.artifact.sizeBytes > MOST_BYTES) {
      const megabytes = Math.ceil(file.artifact.sizeBytes / 1e6);
      throw malformed(
        port,
        `has ${megabytes} MB; metrics have at most ${MOST_BYTES / 1e6} MB`,
        'write other data to an output of another kind',
      );
    }
    const text = await file.read();
    if (text !== undefined) found.push([port, parseMetrics(port, text)]);
  }
  return joinMetrics(found);
}

function parseMetrics(port: string, text: string): JsonObject {
  if (nestingOf(text) > MOST_LEVELS)
    throw malformed(port, `is nested more than ${MOST_LEVELS} levels deep`, 'a metric has a short dotted path');
  const metrics = parse(port, text);
  if (!isJsonObject(metrics)) throw malformed(port, 'is not a JSON object', 'metrics are an object of numbers: {"AP": 0.41}');
  const infinite = findNonFinite(metrics);
  if (infinite !== undefined) throw malformed(port, `has the metric "${infinite}", which is beyond the largest double`, EQUAL_HELP);
  const repeated = findRepeatedPath(metrics);
  if (repeated !== undefined)
    throw malformed(
      port,
      `has two metrics with the path "${repeated}"`,
      'a name with dots and the names of inner objects may not give the same path',
    );
  return metrics;
}

function parse(port: string, text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    throw malformed(port, `is not JSON: ${messageOf(error)}`, `JSON has no NaN and no Infinity: ${EQUAL_HELP}`);
  }
}

/** Returns the nesting depth of objects and lists in a JSON text. It is counted before parsing, because the parser needs memory per level. */
function nestingOf(text: string): number {
  let [level, deepest, inText] = [0, 0, false];
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (character === '"') inText = !inText;
    else if (inText && character === '\\') i++;
    else if (!inText && (character === '{' || character === '[')) deepest = Math.max(deepest, ++level);
    else if (!inText && (character === '}' || character === ']')) level--;
  }
  return deepest;
}

function malformed(port: string, what: string, help: string): EngineError {
  return new EngineError('metrics-malformed', `output "${port}" is of kind metrics and ${what}`, { help });
}
