/** `tanren onnx edit IN OUT`: edits nodes, attributes, constants, inputs and outputs, by a list of steps or by options for single steps. */
import { basename } from 'node:path';
import type { Model } from '../../../onnx/ir/model.js';
import { OnnxError } from '../../../onnx/ir/onnx-error.js';
import type { SetAttribute } from '../../../onnx/rewrite/edit-schema.js';
import { selectMatching } from '../../../onnx/rewrite/matches.js';
import type { Matches, NodeSelector } from '../../../onnx/selection/node-selector.js';
import { type EditStep, editModel } from '../../../onnx/surgery/edit-model.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { type OnnxOptions, readSound, runOnnx, type Weights, writeResult } from './command.js';
import { readEditScript } from './edit-script.js';
import { parseSelector } from './selector-text.js';

export interface EditOptions extends OnnxOptions {
  readonly script?: string;
  /** The nodes that `set` and `delete` change. */
  readonly select?: string;
  /** Each as "name=value". */
  readonly set: readonly string[];
  readonly delete: readonly string[];
  readonly remove: readonly string[];
  readonly addOutput: readonly string[];
  readonly dropOutput: readonly string[];
  /** Selectors may match no node or several. */
  readonly any: boolean;
  readonly weights: Weights;
}

export function runOnnxEdit(from: string, to: string, options: EditOptions): Promise<ExitCode> {
  return runOnnx(options, async console => {
    const model = await readSound(from);
    const steps = [...(options.script === undefined ? [] : await readEditScript(options.script)), ...stepsOf(model, options)];
    if (steps.length === 0)
      throw new OnnxError('bad-edit', 'nothing to edit', {
        help: 'give --script, --set, --delete, --remove, --add-output or --drop-output',
      });
    const done = editModel(model, steps);
    await writeResult(to, model, options.weights);
    if (options.json) console.json({ file: basename(to), done });
    else for (const line of done) console.line(line);
    return EXIT.built;
  });
}

function stepsOf(model: Model, options: EditOptions): readonly EditStep[] {
  const matches: Matches = options.any ? 'any' : 'one';
  return [
    ...attributeSteps(model, options, matches),
    ...options.remove.map((text): EditStep => ({ kind: 'remove', removal: { select: parseSelector(text), matches } })),
    ...options.addOutput.map((name): EditStep => ({ kind: 'add-output', name })),
    ...options.dropOutput.map((name): EditStep => ({ kind: 'drop-output', name })),
  ];
}

function attributeSteps(model: Model, options: EditOptions, matches: Matches): readonly EditStep[] {
  if (options.set.length + options.delete.length === 0) return [];
  if (options.select === undefined)
    throw new OnnxError('bad-edit', '--set and --delete need --select', { help: 'name the nodes with --select' });
  const select = parseSelector(options.select);
  return [
    ...options.set.map(
      (text): EditStep => ({ kind: 'edit', edit: { select, matches, setAttribute: parseSetting(model, select, matches, text) } }),
    ),
    ...options.delete.map((name): EditStep => ({ kind: 'edit', edit: { select, matches, deleteAttribute: name } })),
  ];
}

/** Parses "alpha=0.1", "pads=[1,1,1,1]" or "mode=nearest". A number for a float attribute becomes a float, however it is written. */
function parseSetting(model: Model, select: NodeSelector, matches: Matches, text: string): SetAttribute {
  const at = text.indexOf('=');
  if (at < 1)
    throw new OnnxError('bad-edit', `"${text}" is not a setting`, {
      help: 'expected name=value, for example alpha=0.1, pads=[1,1,1,1] or mode=nearest',
    });
  const [name, value] = [text.slice(0, at), parseValue(text.slice(at + 1))];
  const kinds = new Set(selectMatching(model.graph, select, matches).map(node => node.attributes.get(name)?.kind));
  return { name, type: typeOf(value, kinds.has('float') || kinds.has('floats') ? 'float' : 'other'), value };
}

type Value = SetAttribute['value'];

function parseValue(text: string): Value {
  if (/^\[.*\]$/.test(text)) {
    const items = text
      .slice(1, -1)
      .split(',')
      .map(item => item.trim())
      .filter(Boolean);
    return items.every(isNumber) ? items.map(Number) : items;
  }
  return isNumber(text) ? Number(text) : text;
}

const isNumber = (text: string): boolean => /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text);

function typeOf(value: Value, before: 'float' | 'other'): SetAttribute['type'] {
  const isList = typeof value === 'object';
  const items = isList ? value : [value];
  if (items.some(item => typeof item === 'string')) return isList ? 'strings' : 'string';
  if (before === 'float' || items.some(item => !Number.isInteger(item))) return isList ? 'floats' : 'float';
  return isList ? 'ints' : 'int';
}
