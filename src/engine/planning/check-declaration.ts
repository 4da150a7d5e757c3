/** Checks of a third-party plugin's declaration: the values must be usable in an action key. */
import { encodeCanonicalJson } from '../../base/json/canonical-json.js';
import { isJsonObject, type JsonObject } from '../../base/json.js';
import type { StagePlugin } from '../../stage/define-stage.js';

/**
 * The plugin's JavaScript may declare any value. Its ports are checked separately.
 * @throws Error that names the field and its expected value.
 */
export function checkDeclaration(plugin: StagePlugin<JsonObject>, params: JsonObject, determinism: string): void {
  const runsModels: string = plugin.runsModels;
  const reads = plugin.reads ?? [];
  const tools = plugin.tools?.(params) ?? [];
  if (!Number.isFinite(plugin.version)) throw new Error('version should be a number');
  if (determinism !== 'exact' && determinism !== 'measured') throw new Error("determinism should be 'exact' or 'measured'");
  if (runsModels !== 'always' && runsModels !== 'never') throw new Error("runsModels should be 'always' or 'never'");
  if (!isListOfTexts(reads)) throw new Error('reads should be a list of paths or file: URLs');
  if (!isListOfTexts(tools)) throw new Error('tools should give a list of programs');
  const headlines: unknown = typeof plugin.headlines === 'function' ? plugin.headlines(params) : (plugin.headlines ?? []);
  if (!Array.isArray(headlines) || !headlines.every(isHeadline))
    throw new Error("headlines should be a list of { metric, label }, and unit 'share' or 'ms' if there is one");
  const device = plugin.device?.(params);
  if (device === undefined) return;
  if (!isJsonObject(device)) throw new Error('device should give a JSON object');
  encodeCanonicalJson(device);
}

function isHeadline(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { metric, label, unit } = value as { readonly [member: string]: unknown };
  return typeof metric === 'string' && typeof label === 'string' && (unit === undefined || unit === 'share' || unit === 'ms');
}

/** No path contains a NUL character. */
function isListOfTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every(one => typeof one === 'string' && !one.includes('\0'));
}
