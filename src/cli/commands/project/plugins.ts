/** `tanren plugins`: lists the plugins with their inputs, outputs and params. */
import { BUILT_IN_PLUGINS } from '../../../../stages/registry.js';
import { isJsonObject, type JsonObject } from '../../../base/json.js';
import type { Ports } from '../../../stage/ports.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { type Console, makeConsole } from '../../terminal/console.js';

export async function runPlugins(options: { readonly json: boolean }): Promise<ExitCode> {
  const console = makeConsole({ json: options.json });
  const plugins = BUILT_IN_PLUGINS.map(({ plugin }) => plugin);
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
    console.line(`${console.style('bold', plugin.name)}  ${plugin.description}`);
    console.line(`  inputs   ${formatPorts(plugin.inputs)}`);
    console.line(`  outputs  ${formatPorts(plugin.outputs)}`);
    formatParams(plugin.params, console);
    console.line('');
  }
  return EXIT.built;
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
    const value = param.default === undefined ? '' : ` = ${JSON.stringify(param.default)}`;
    console.line(`  ${console.style('cyan', name)}${value}  ${typeof param.description === 'string' ? param.description : ''}`);
  }
}
