/** Conformance of model surgery on public models: renaming, cutting and joining, and swapping a part for itself keep the content digest. */
import { join, relative } from 'node:path';
import { digestModelContent } from '../../../src/onnx/analysis/content-digest.js';
import { measureModel } from '../../../src/onnx/analysis/model-stats.js';
import { checkModel } from '../../../src/onnx/check/check-model.js';
import { diffModels } from '../../../src/onnx/diff/diff-models.js';
import { cloneModel } from '../../../src/onnx/ir/clone.js';
import type { Model, ValueId } from '../../../src/onnx/ir/model.js';
import { sortTopologically } from '../../../src/onnx/ir/sort.js';
import { freeInitializersOf } from '../../../src/onnx/passes/constants.js';
import { removeDeadFrom } from '../../../src/onnx/passes/remove-dead.js';
import { decodeModel } from '../../../src/onnx/serde/decode-model.js';
import { encodeModel } from '../../../src/onnx/serde/encode-model.js';
import { readModel } from '../../../src/onnx/serde/model-file.js';
import { inferShapes, writeTypes } from '../../../src/onnx/shape-inference/infer-shapes.js';
import { extractSubgraph } from '../../../src/onnx/surgery/extract.js';
import { insertNode } from '../../../src/onnx/surgery/insert-node.js';
import { mergeModels } from '../../../src/onnx/surgery/merge-models.js';
import { pinShapes } from '../../../src/onnx/surgery/pin-shapes.js';
import { removeNodes } from '../../../src/onnx/surgery/remove-node.js';
import { renameNodes, renameValues } from '../../../src/onnx/surgery/rename.js';
import { swapPart } from '../../../src/onnx/surgery/swap-part.js';
import { findRecordedModels } from '../../support/backend-tests.js';
import { findSharedFolder } from '../../support/shared-folder.js';

const shared = findSharedFolder();
const suite = shared === undefined ? describe.skip : describe;
const root = shared ?? '';

const MODELS = findRecordedModels('models', 'shapes', 'conformance/onnx/light').map(path => relative(root, path));

/** Without what nothing needs, with the types that follow, and weights that no caller overrides: cutting would drop all that. */
async function read(name: string): Promise<Model> {
  const model = await readModel(join(root, name));
  sortTopologically(model.graph);
  freeInitializersOf(model);
  removeDeadFrom(model.graph);
  writeTypes(model, inferShapes(model));
  return model;
}

/** Values through which everything goes from the one input on: where the model can be cut in two. */
function findBridges({ graph }: Model): string[] {
  const open = new Set<ValueId>(graph.inputs);
  const uses = new Map<ValueId, number>();
  const nodes = [...graph.nodes.values()];
  for (const node of nodes) for (const id of node.inputs) if (id !== undefined) uses.set(id, (uses.get(id) ?? 0) + 1);
  const bridges: string[] = [];
  for (const node of nodes) {
    for (const id of node.inputs) {
      if (id === undefined || !open.has(id)) continue;
      uses.set(id, (uses.get(id) ?? 0) - 1);
      if (uses.get(id) === 0 && !graph.outputs.includes(id)) open.delete(id);
    }
    for (const id of node.outputs) if (id !== undefined) open.add(id);
    const [only] = open;
    const value = only === undefined ? undefined : graph.values.get(only);
    if (open.size === 1 && value?.producer !== undefined && !graph.outputs.includes(value.id)) bridges.push(value.name);
  }
  return bridges;
}

suite('surgery on public models', () => {
  it.each(MODELS)('%s: other names, the same content', async name => {
    const model = await read(name);
    const before = digestModelContent(model);
    renameValues(model, [{ from: '*', to: 'net/*' }]);
    if ([...model.graph.nodes.values()].some(node => node.name !== '')) renameNodes(model, [{ from: '*', to: 'net/*' }]);

    expect(checkModel(model)).toEqual([]);
    expect(digestModelContent(decodeModel(encodeModel(model)))).toBe(before);
  });

  it('cut in two and joined again have the content that they had', async () => {
    const cuts: string[] = [];
    for (const name of MODELS) {
      const model = await read(name);
      const bridges = findBridges(model);
      const bridge = bridges[Math.floor(bridges.length / 2)];
      if (bridge === undefined) continue;
      const ends = (ids: readonly ValueId[]): string[] => ids.map(id => model.graph.values.get(id)?.name ?? '');
      const front = extractSubgraph(model, { inputs: ends(model.graph.inputs), outputs: [bridge] });
      const back = extractSubgraph(model, { inputs: [bridge], outputs: ends(model.graph.outputs) });
      const { model: joined } = mergeModels(front, back, { connect: {} });
      expect(checkModel(joined)).toEqual([]);
      if (digestModelContent(joined) !== digestModelContent(model)) cuts.push(`${name} at ${bridge}`);
      const swapped = cloneModel(model);
      swapPart(swapped, { inputs: ends(model.graph.inputs), outputs: [bridge] }, front);
      if (digestModelContent(swapped) !== digestModelContent(model)) cuts.push(`${name}: swap up to ${bridge}`);
      cuts.push('');
    }
    expect(cuts.filter(cut => cut !== '')).toEqual([]);
    expect(cuts.length).toBeGreaterThanOrEqual(15);
  });

  it.each(MODELS)('%s: an Identity after every output, and taken away again', async name => {
    const model = await read(name);
    const before = digestModelContent(model);
    const outputs = model.graph.outputs.map(id => model.graph.values.get(id)?.name ?? '');
    const own = outputs.filter(output => [...model.graph.values.values()].find(value => value.name === output)?.producer !== undefined);
    const added = own.map(output => insertNode(model, { on: output, op: 'Identity' }).name);
    expect(checkModel(model)).toEqual([]);
    for (const node of added) removeNodes(model, { select: node });

    expect(model.graph.outputs.map(id => model.graph.values.get(id)?.name)).toEqual(outputs);
    expect(digestModelContent(model)).toBe(before);
  });

  it.each(MODELS)('%s: no difference to itself, written and read', async name => {
    const model = await read(name);
    expect(diffModels(model, decodeModel(encodeModel(model)))).toEqual([]);
  });

  /** Multiply-accumulates in 10⁹ and parameters in 10⁶, as torchvision publishes them for its models at 224 × 224 (MobileNet V2 is here for 244 × 244: its parameters alone are compared), and He et al. (2015) for ResNet-20. */
  it.each([
    ['conformance/onnx/light/light_resnet50', 4.09, undefined],
    ['conformance/onnx/light/light_densenet121', 2.83, undefined],
    ['conformance/onnx/light/light_vgg19', 19.63, undefined],
    ['conformance/onnx/light/light_squeezenet', 0.35, undefined],
    ['models/mobilenetv2/mobilenetv2_fp32', undefined, 3.5],
    ['models/cifar-resnet20/cifar_resnet20', 0.0408, 0.27],
  ])('%s takes %p billion multiply-accumulates and has %p million parameters', async (name, gigaMacs, millions) => {
    const model = await readModel(join(root, `${name}.onnx`));
    pinShapes(model, { shapes: {}, dims: {}, batch: 1 });
    const { macs, parameters, unknownNodes } = measureModel(model, inferShapes(model));

    expect(unknownNodes).toBe(0);
    if (gigaMacs !== undefined) expect(Math.abs(macs / 1e9 / gigaMacs - 1)).toBeLessThan(0.01);
    if (millions !== undefined) expect(Math.abs(parameters / 1e6 / millions - 1)).toBeLessThan(0.01);
  });
});
