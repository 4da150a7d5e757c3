/** The plugin of a stage, its checked params, and what the plugin declares for them. */

import { isJsonObject, type JsonObject } from '../../base/json.js';
import { findClosest } from '../../base/text/did-you-mean.js';
import { withCheckedParams } from '../../stage/define-stage.js';
import type { Ports } from '../../stage/ports.js';
import { checkSchema, listOf } from '../config/check-schema.js';
import { interpolate } from '../config/interpolate.js';
import { findMember, type Located } from '../config/located.js';
import type { DiagnosticList } from '../model/diagnostic.js';
import type { PluginEntry, PluginRegistry } from '../model/plugin-entry.js';
import type { SourceSpan } from '../model/source-span.js';
import { checkDeclaration } from './check-declaration.js';
import { checkPorts } from './check-ports.js';
import type { Instance } from './expand.js';
import { overrideSettings, type SettingOverride } from './override-settings.js';

/** An instance whose plugin and params are known. */
export interface Prepared {
  readonly instance: Instance;
  readonly entry: PluginEntry;
  readonly params: JsonObject;
  readonly inputPorts: Ports;
  readonly outputPorts: Ports;
  readonly determinism: 'exact' | 'measured';
}

/** Finds the plugin and checks the params. @returns undefined if that adds diagnostics. */
export function prepareStage(
  instance: Instance,
  { plugins, settings = [] }: { readonly plugins: PluginRegistry; readonly settings?: readonly SettingOverride[] },
  diagnostics: DiagnosticList,
): Prepared | undefined {
  const uses = findMember(instance.definition, 'uses');
  const name = uses?.kind === 'scalar' ? String(uses.value) : '';
  const entry = plugins.find(name);
  if (entry === undefined) {
    // The reason why it does not load was already reported.
    if (plugins.failed.has(name)) return undefined;
    const help = (): string => {
      const closest = findClosest(name, plugins.names);
      return closest === undefined ? `known plugins: ${listOf(plugins.names)}` : `did you mean "${closest}"?`;
    };
    diagnostics.error('unknown-plugin', uses?.span ?? instance.span, `stage "${instance.id}" uses unknown plugin "${name}"`, help);
    return undefined;
  }
  const given: Located = findMember(instance.definition, 'with') ?? { kind: 'map', members: new Map(), span: uses?.span ?? instance.span };
  const before = diagnostics.count;
  const located = overrideSettings(interpolate(given, instance.scope, diagnostics), instance, settings);
  if (diagnostics.count > before) return undefined;
  const origin = entry.origin === 'built-in' ? 'own' : 'foreign';
  const params = checkSchema({ schema: entry.plugin.params, origin }, located, 'setting', `stage "${instance.id}"`, diagnostics);
  if (params === undefined || !isJsonObject(params)) return undefined;
  return evaluateDeclaration(instance, entry, params, located.span, diagnostics);
}

/** Calls the declaration's functions of the params. Whatever a third-party plugin throws becomes a diagnostic at its `with`. */
function evaluateDeclaration(
  instance: Instance,
  entry: PluginEntry,
  params: JsonObject,
  span: SourceSpan,
  diagnostics: DiagnosticList,
): Prepared | undefined {
  const plugin = withCheckedParams(entry.plugin);
  try {
    const problems = plugin.checkParams?.(params) ?? [];
    for (const problem of problems) diagnostics.error('bad-setting', span, `stage "${instance.id}": ${problem}`);
    if (problems.length > 0) return undefined;
    const determinism = typeof plugin.determinism === 'function' ? plugin.determinism(params) : plugin.determinism;
    if (plugin.needs === 'build-summary' && determinism !== 'measured')
      throw new Error("it needs a summary of the build, in which times are: its determinism is 'measured'");
    if (entry.origin === 'local') checkDeclaration(plugin, params, determinism);
    return {
      instance,
      entry,
      params,
      inputPorts: checkPorts(typeof plugin.inputs === 'function' ? plugin.inputs(params) : plugin.inputs),
      outputPorts: checkPorts(typeof plugin.outputs === 'function' ? plugin.outputs(params) : plugin.outputs),
      determinism,
    };
  } catch (error) {
    diagnostics.error(
      'plugin-declaration',
      span,
      `plugin "${entry.name}" fails on these params: ${error instanceof Error ? error.message : String(error)}`,
    );
    return undefined;
  }
}
