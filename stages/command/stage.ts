/** Declaration of the `command` plugin: runs any program in a folder with its declared inputs. */
import { defineStage } from '../../src/stage/define-stage.js';
import { type Ports, port } from '../../src/stage/ports.js';
import { COMMAND_PARAMS, type Place } from './params.js';
import { checkPlaces } from './places.js';

export const command = defineStage({
  name: 'command',
  version: 1,
  description: 'Runs any program in its own folder, with its declared inputs, environment and tools.',
  params: COMMAND_PARAMS,
  inputs: params => portsOf(params.inputs),
  outputs: params => portsOf(params.outputs),
  determinism: params => params.determinism,
  runsModels: 'never',
  isolation: 'in-process',
  tools: ({ run: [program = ''], shell, tools }) => [
    ...new Set([...(shell === 'sh' ? ['sh'] : isPlaced(program) ? [] : [program]), ...tools]),
  ],
  checkParams: ({ run, shell, inputs, outputs, tools, env }) => [
    ...(run.some(hasNul) || tools.some(hasNul) || Object.values(env).some(hasNul)
      ? ['arguments, programs and variables cannot contain NUL characters']
      : []),
    ...Object.keys(env)
      .filter(name => name === '' || name.includes('=') || hasNul(name))
      .map(name => `env: ${JSON.stringify(name)} is not a valid variable name`),
    ...(shell === 'sh' && run.length !== 1 ? [`shell: sh expects one entry in run, the script; found ${run.length}`] : []),
    ...(run[0] === '' ? ['run[0], the program, is empty'] : []),
    ...checkPlaces(inputs, outputs),
  ],
  run: async job => (await import('./run.js')).runCommand(job),
});

function hasNul(text: string): boolean {
  return text.includes('\0');
}

/** Whether the program is one of the declared inputs in the folder. */
function isPlaced(program: string): boolean {
  return program.startsWith('./');
}

function portsOf(places: Readonly<Record<string, Place>>): Ports {
  return Object.fromEntries(
    Object.entries(places).map(([name, place]) => [name, port(typeof place === 'string' ? 'any' : (place.kind ?? 'any'))]),
  );
}
