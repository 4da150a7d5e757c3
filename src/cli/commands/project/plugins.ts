/** `tanren plugins`: lists the plugins with their inputs, outputs and params. */
import { BUILT_IN_PLUGINS } from '../../../../stages/registry.js';
import { isJsonObject, type Json, type JsonObject } from '../../../base/json.js';
import { findClosest } from '../../../base/text/did-you-mean.js';
import type { Diagnostic } from '../../../engine/model/diagnostic.js';
import type { Ports } from '../../../stage/ports.js';
import { encodeDiagnostic, printDiagnostics } from '../../pipeline/open-plan.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { type Console, makeConsole } from '../../terminal/console.js';
import { wrapBehind, wrapText } from '../../terminal/wrap-text.js';

/** @param names of plugins; an empty list stands for all. */
export async function runPlugins(names: readonly string[], options: { readonly json: boolean }): Promise<ExitCode> {
  const console = makeConsole({ json: options.json });
  const all = BUILT_IN_PLUGINS.map(({ plugin }) => plugin);
  const unknown = names.filter(name => !all.some(plugin => plugin.name === name));
  if (unknown.length > 0) return refuse(unknown, options, console);
  const plugins = names.length === 0 ? all : all.filter(({ name }) => names.includes(name));
  if (options.json) {
    console.json(
      plugins.map(({ name, version, description, params, inputs, outputs }) => ({
        name,
        version,
        description,
        params,
        inputs: fixed(inputs),
        outputs: fixed(outputs),
      })),
    );
    return EXIT.built;
  }
  for (const plugin of plugins) {
    const print = (name: string, text: string): void => {
      for (const line of wrapBehind(name, text, console.width())) console.line(line);
    };
    print(console.style('bold', plugin.name), plugin.description);
    print('  inputs ', formatPorts(plugin.inputs));
    print('  outputs', formatPorts(plugin.outputs));
    formatParams(plugin.params, console);
    console.line('');
  }
  return EXIT.built;
}

function refuse(unknown: readonly string[], { json }: { readonly json: boolean }, console: Console): ExitCode {
  const known = BUILT_IN_PLUGINS.map(({ plugin }) => plugin.name);
  const diagnostics = unknown.map((name): Diagnostic => {
    const closest = findClosest(name, known);
    const help = closest === undefined ? `built-in plugins: ${known.join(', ')}` : `did you mean "${closest}"?`;
    return { severity: 'error', code: 'unknown-plugin', message: `no built-in plugin is named "${name}"`, span: undefined, help };
  });
  printDiagnostics(diagnostics, new Map(), console, 'read');
  if (json) console.json({ diagnostics: diagnostics.map(encodeDiagnostic) });
  return EXIT.usage;
}

type Declared = Ports | ((params: never) => Ports);

function fixed(ports: Declared): Ports | 'depend on the params' {
  return typeof ports === 'function' ? 'depend on the params' : ports;
}

function formatPorts(ports: Declared): string {
  if (typeof ports === 'function') return 'depend on the params';
  return Object.entries(ports)
    .map(
      ([name, port]) =>
        `${name}${port.optional ? '?' : ''}: ${port.entries === undefined ? port.kind : `{${port.entries === 'any' ? '…' : port.entries.join(', ')}}`}`,
    )
    .join(', ');
}

function formatParams(schema: JsonObject, console: Console): void {
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  for (const [name, param] of Object.entries(properties)) {
    if (!isJsonObject(param)) continue;
    const value = param.default === undefined ? '' : ` = ${spacedJson(param.default)}`;
    const description = typeof param.description === 'string' ? param.description : '';
    for (const line of wrapText(`${console.style('cyan', name)}${value}  ${description}`, console.width() - 4).map(
      (line, index) => `${index === 0 ? '  ' : '    '}${line}`,
    ))
      console.line(line);
  }
}

/** JSON on one line with spaces between members, where lines can break. */
function spacedJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(spacedJson).join(', ')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, member]) => `${JSON.stringify(name)}: ${spacedJson(member)}`)
    .join(', ')}}`;
}
