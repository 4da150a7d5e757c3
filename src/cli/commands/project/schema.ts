/** `tanren schema`: prints the JSON Schema of pipeline files for editors. */

import { BUILT_IN_PLUGINS } from '../../../../stages/registry.js';
import { makePipelineSchema } from '../../../engine/config/pipeline-schema.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { listInputPorts } from './input-ports.js';

/** The schema with an indentation of two spaces and one final newline: the bytes of docs/pipeline.schema.json. */
export function formatPipelineSchema(): string {
  const plugins = BUILT_IN_PLUGINS.map(({ plugin }) => ({
    name: plugin.name,
    description: plugin.description,
    params: plugin.params,
    inputs: listInputPorts(plugin),
  }));
  return `${JSON.stringify(makePipelineSchema(plugins), null, 2)}\n`;
}

export async function runSchema(): Promise<ExitCode> {
  process.stdout.write(formatPipelineSchema());
  return EXIT.built;
}
