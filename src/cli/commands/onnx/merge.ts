/** `tanren onnx merge FIRST SECOND OUT`: merges two models. Values of the first feed inputs of the second. */

import { basename } from 'node:path';
import { countOf } from '../../../base/text/count-of.js';
import { OnnxError } from '../../../onnx/ir/onnx-error.js';
import { mergeModels } from '../../../onnx/surgery/merge-models.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { type OnnxOptions, readSound, runOnnx, type Weights, writeResult } from './command.js';

export interface MergeCommandOptions extends OnnxOptions {
  /** Each as "value of the first=input of the second". */
  readonly connect: readonly string[];
  readonly prefixFirst?: string;
  readonly prefixSecond?: string;
  readonly keepConnected: boolean;
  readonly weights: Weights;
}

export function runOnnxMerge(first: string, second: string, to: string, options: MergeCommandOptions): Promise<ExitCode> {
  return runOnnx(options, async console => {
    const { model, renamed } = mergeModels(await readSound(first), await readSound(second), {
      connect: Object.fromEntries(options.connect.map(parseConnection)),
      prefix: {
        ...(options.prefixFirst === undefined ? {} : { first: options.prefixFirst }),
        ...(options.prefixSecond === undefined ? {} : { second: options.prefixSecond }),
      },
      connected: options.keepConnected ? 'keep' : 'drop',
    });
    await writeResult(to, model, options.weights);
    const namesOf = (ids: typeof model.graph.inputs): string[] => ids.map(id => model.graph.values.get(id)?.name ?? '');
    const [inputs, outputs, nodes] = [namesOf(model.graph.inputs), namesOf(model.graph.outputs), model.graph.nodes.size];
    if (options.json) console.json({ file: basename(to), inputs, outputs, nodes, renamed });
    else {
      for (const { from, to: now } of renamed) console.line(`${from} of ${basename(second)} is ${now}`);
      console.line(`${basename(to)}: ${countOf(nodes, 'node')}, from ${inputs.join(', ')} to ${outputs.join(', ')}`);
    }
    return EXIT.built;
  });
}

function parseConnection(text: string): [string, string] {
  const at = text.lastIndexOf('=');
  if (at < 1 || at === text.length - 1) {
    throw new OnnxError('bad-edit', `"${text}" is not a connection`, {
      help: 'expected value=input, for example features=x: a value of the first model and an input of the second',
    });
  }
  return [text.slice(at + 1), text.slice(0, at)];
}
