/** Reads an edit script: a YAML or JSON list of steps with one action each. The whole script is checked before anything is edited. */
import { readFile, stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { CodedError } from '../../../base/coded-error.js';
import { formatJsonProblems, list, readJsonShape } from '../../../base/json/json-shape.js';
import type { Json } from '../../../base/json.js';
import { formatBytes } from '../../../base/text/format.js';
import { toJson } from '../../../engine/config/located.js';
import { parseYaml } from '../../../engine/config/parse-yaml.js';
import { makeDiagnosticList } from '../../../engine/model/diagnostic.js';
import type { Constant } from '../../../onnx/ir/model.js';
import { makeAttribute } from '../../../onnx/rewrite/edits.js';
import { makeNumbers } from '../../../onnx/rewrite/make-numbers.js';
import type { EditStep } from '../../../onnx/surgery/edit-model.js';
import { readSound } from './command.js';
import { stepReader, type WrittenInsertion, type WrittenStep } from './edit-step.js';

const MAX_SCRIPT_BYTES = 16 << 20;

/**
 * Reads the steps of the file at `path`. Paths of models in steps are relative to the folder of the file.
 * @throws CodedError `bad-edit-script` with every problem; OnnxError `bad-edit`, and of reading models.
 */
export async function readEditScript(path: string): Promise<readonly EditStep[]> {
  const result = readJsonShape(list(stepReader), await readYaml(path));
  if (result.kind === 'problems') throw badScript(path, formatJsonProblems(result.problems));
  const steps: EditStep[] = [];
  for (const written of result.value) steps.push(await makeStep(written, dirname(path)));
  return steps;
}

function badScript(path: string, problems: readonly string[]): CodedError {
  const [first = '', ...others] = problems;
  const listed = others.length === 0 ? first : `\n  ${problems.slice(0, 10).join('\n  ')}`;
  return new CodedError('bad-edit-script', `${basename(path)}: ${listed}`, {
    help: 'expected a list of steps, for example {select: {op: LeakyRelu}, setAttribute: {name: alpha, type: float, value: 0.1}}',
  });
}

async function readYaml(path: string): Promise<Json> {
  const content = await readText(path);
  const diagnostics = makeDiagnosticList();
  const root = parseYaml(basename(path), content, diagnostics);
  const problems = diagnostics.items.filter(({ severity }) => severity === 'error');
  if (root !== undefined && problems.length === 0) return toJson(root);
  throw badScript(
    path,
    problems.length === 0 ? ['it is empty'] : problems.map(({ span, message }) => `line ${span?.line ?? 1}: ${message}`),
  );
}

async function readText(path: string): Promise<string> {
  try {
    const { size } = await stat(path);
    if (size > MAX_SCRIPT_BYTES) throw new Error(`it has ${formatBytes(size)}, ${formatBytes(MAX_SCRIPT_BYTES)} are read`);
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw badScript(path, [cause instanceof Error ? cause.message : String(cause)]);
  }
}

async function makeStep(from: WrittenStep, folder: string): Promise<EditStep> {
  const { renameValue, renameNode, insert, remove, addOutput, dropOutput, dropInput, swap, ...edit } = from;
  if (renameValue !== undefined) return { kind: 'rename-values', renames: [renameValue] };
  if (renameNode !== undefined) return { kind: 'rename-nodes', renames: [renameNode] };
  if (insert !== undefined) return makeInsertion(insert);
  if (remove !== undefined) return { kind: 'remove', removal: remove };
  if (addOutput !== undefined) return { kind: 'add-output', name: addOutput };
  if (dropOutput !== undefined) return { kind: 'drop-output', name: dropOutput };
  if (dropInput !== undefined) return { kind: 'drop-input', name: dropInput };
  if (swap !== undefined) return { kind: 'swap', cut: swap, replacement: await readSound(resolve(folder, swap.with)) };
  return { kind: 'edit', edit };
}

function makeInsertion({ attributes = [], others = [], ...insertion }: WrittenInsertion): EditStep {
  return {
    kind: 'insert',
    insertion: {
      ...insertion,
      attributes: Object.fromEntries(attributes.map(({ name, type, value }) => [name, makeAttribute(name, type, value)])),
      others: others.map((item): string | Constant | undefined => {
        if (item === null) return undefined;
        return typeof item === 'string' ? item : makeNumbers(item.dtype, item.dims ?? [item.values.length], item.values);
      }),
    },
  };
}
