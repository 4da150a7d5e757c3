/** The models of a detector in the order in which they run, and the values that each reads and gives. */
import { getDefined } from '../../src/base/invariant.js';
import type { PartValues } from '../../src/detection/detector/part-values.js';
import type { InnerPart, SingleRecipe } from '../../src/detection/families/single/recipe.js';
import { getValue } from '../../src/onnx/ir/edit.js';
import type { Model, ValueId } from '../../src/onnx/ir/model.js';
import { readModel } from '../../src/onnx/serde/model-file.js';
import { listModelInputs } from '../../src/runtime/session/model-inputs.js';
import type { InputPaths } from '../../src/stage/define-stage.js';
import { findInputPath, findInputRecord, readInput } from '../../src/stage/paths.js';
import { StageError } from '../../src/stage/stage-error.js';

/** The network, and what runs before and after it. */
export interface DetectorModels {
  readonly prepare: Model | undefined;
  readonly model: Model;
  /** In the order in which they run. */
  readonly heads: readonly NamedModel[];
  readonly rest: Model | undefined;
}

interface NamedModel {
  readonly name: string;
  readonly model: Model;
}

const IMAGE_PARTS = ['prepare', 'model', 'rest'];

/** @throws StageError `parts-apart`. */
export async function readDetectorModels(inputs: InputPaths): Promise<DetectorModels> {
  const find = async (name: string): Promise<Model | undefined> =>
    findInputPath(inputs, name) === undefined ? undefined : readInput(inputs, name, readModel);
  const heads = await readHeads(findInputRecord(inputs, 'heads') ?? {});
  const [prepare, model, rest] = [await find('prepare'), await readInput(inputs, 'model', readModel), await find('rest')];
  if (heads.length > 0 && rest === undefined)
    throw new StageError('parts-apart', '`heads` is connected without `rest`', {
      help: 'connect the part `rest` of the same `split`: heads run before it',
    });
  return { prepare, model, heads: orderHeads(heads, [prepare, model]), rest };
}

async function readHeads(paths: Readonly<Record<string, string>>): Promise<readonly NamedModel[]> {
  const taken = Object.keys(paths).find(name => IMAGE_PARTS.includes(name));
  if (taken !== undefined)
    throw new StageError('parts-apart', `\`heads\` has an entry "${taken}", which is the name of another part`, {
      help: `connect it to the input \`${taken}\`, or give the head another name`,
    });
  const names = Object.keys(paths).sort();
  return Promise.all(names.map(async name => ({ name, model: await readModel(getDefined(paths[name], name)) })));
}

/** Each head after those whose outputs it reads; ties by name. @throws StageError `parts-apart`. */
function orderHeads(heads: readonly NamedModel[], before: readonly (Model | undefined)[]): readonly NamedModel[] {
  const known = new Set(before.flatMap(model => (model === undefined ? [] : [...listInputs(model), ...listOutputs(model)])));
  const left = [...heads];
  const ordered: NamedModel[] = [];
  while (left.length > 0) {
    const index = left.findIndex(({ model }) => listInputs(model).every(name => known.has(name)));
    const [next] = index < 0 ? [] : left.splice(index, 1);
    if (next === undefined) throw partsApart(left.flatMap(({ model }) => listInputs(model)).filter(name => !known.has(name)));
    ordered.push(next);
    for (const name of listOutputs(next.model)) known.add(name);
  }
  return ordered;
}

/** In the order in which they run. */
export function listAllModels({ prepare, model, heads, rest }: DetectorModels): readonly Model[] {
  return [prepare, model, ...heads.map(head => head.model), rest].filter(one => one !== undefined);
}

export const listOutputs = ({ graph }: Model): readonly string[] => graph.outputs.map(id => getValue(graph, id).name);

const listInputs = (model: Model): readonly string[] => listModelInputs(model).map(({ name }) => name);

/**
 * Each part gives what later parts and the decoder read; a part that gives nothing of this gives everything.
 * @param ends decoded: the outputs that the decoder reads. image: the inputs that an image gives.
 * @throws StageError `parts-apart` if a part reads a value that none before it gives.
 */
export function listParts(
  { prepare, model, heads, rest }: DetectorModels,
  { decoded, image }: { readonly decoded: readonly string[]; readonly image: readonly string[] },
): Pick<SingleRecipe, 'parts' | 'heads'> {
  const wanted = new Set(decoded);
  const endsOf = (part: Model): PartValues => {
    const given = listOutputs(part);
    const read = [...wanted].filter(name => given.includes(name));
    const outputs = read.length === 0 ? given : read;
    const inputs = listInputs(part);
    for (const name of outputs) wanted.delete(name);
    for (const name of inputs) wanted.add(name);
    return { inputs, outputs: [...outputs] };
  };
  // From the last part to the first: what later parts read is then known.
  const last = rest === undefined ? undefined : endsOf(rest);
  const inner = [...heads].reverse().map((head): InnerPart => ({ name: head.name, ...endsOf(head.model), ...roisOf(head.model) }));
  const own = endsOf(model);
  const first = prepare === undefined ? undefined : endsOf(prepare);
  const open = [...wanted].filter(name => !image.includes(name));
  if (open.length > 0) throw partsApart(open);
  return {
    parts: { ...(first === undefined ? {} : { prepare: first }), model: own, ...(last === undefined ? {} : { rest: last }) },
    ...(inner.length === 0 ? {} : { heads: inner.reverse() }),
  };
}

/** A part runs on RoIs if the first size of all its inputs and outputs is free, and every other size is known. */
function roisOf({ graph }: Model): Pick<InnerPart, 'rois'> {
  const inputs = rowsOf({ graph }, graph.inputs);
  const outputs = rowsOf({ graph }, graph.outputs);
  return inputs === undefined || outputs === undefined ? {} : { rois: { inputs, outputs } };
}

function rowsOf({ graph }: Pick<Model, 'graph'>, values: readonly ValueId[]): Readonly<Record<string, number[]>> | undefined {
  const rows: Record<string, number[]> = {};
  for (const id of values) {
    const { name, type } = getValue(graph, id);
    const [first, ...dims] = type?.kind === 'tensor' ? (type.dims ?? []) : [];
    const known = dims.filter(dim => typeof dim === 'number');
    if (first === undefined || typeof first === 'number' || known.length < dims.length) return undefined;
    rows[name] = known;
  }
  return rows;
}

function partsApart(names: readonly string[]): StageError {
  const listed = [...new Set(names)].map(name => `"${name}"`).join(', ');
  return new StageError('parts-apart', `no part before it gives the input ${listed} of a part`, {
    help: 'connect the parts `prepare`, `network`, `rest`, and each head with its `to_NAME`, of one `split`',
  });
}
