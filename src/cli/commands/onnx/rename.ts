/** `tanren onnx rename IN OUT`: renames values and nodes all at once, including those in subgraphs. */

import { basename } from 'node:path';
import { countOf } from '../../../base/text/count-of.js';
import { OnnxError } from '../../../onnx/ir/onnx-error.js';
import type { Rename } from '../../../onnx/surgery/rename.js';
import { renameNodes, renameValues } from '../../../onnx/surgery/rename.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { type OnnxOptions, readSound, runOnnx, type Weights, writeResult } from './command.js';

export interface RenameOptions extends OnnxOptions {
  /** Each as "old=new". One `*` on both sides stands for the same characters. */
  readonly value: readonly string[];
  readonly node: readonly string[];
  readonly weights: Weights;
}

export function runOnnxRename(from: string, to: string, options: RenameOptions): Promise<ExitCode> {
  return runOnnx(options, async console => {
    const model = await readSound(from);
    const [values, nodes] = [options.value.map(parseRename), options.node.map(parseRename)];
    if (values.length + nodes.length === 0)
      throw new OnnxError('bad-rename', 'nothing to rename', { help: 'give --value OLD=NEW or --node OLD=NEW' });
    const renamed = { values: renameValues(model, values), nodes: renameNodes(model, nodes) };
    await writeResult(to, model, options.weights);
    if (options.json) console.json({ file: basename(to), ...renamed });
    else console.line(`${basename(to)}: ${countOf(renamed.values.length, 'value')} and ${countOf(renamed.nodes.length, 'node')} renamed`);
    return EXIT.built;
  });
}

/** Splits at the last "=", because names of values may contain one. */
function parseRename(text: string): Rename {
  const at = text.lastIndexOf('=');
  if (at < 1) throw new OnnxError('bad-rename', `"${text}" is not a rename`, { help: 'expected old=new, for example backbone/*=body/*' });
  return { from: text.slice(0, at), to: text.slice(at + 1) };
}
