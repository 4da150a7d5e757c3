/**
 * Program for `test/unit/stages/import-memory.slow.ts`: imports a model of 1×1 convolutions as a worker does, and prints the peak of its memory in bytes.
 * Arguments: the number of layers, and their channels. It is no test module, because jest's own memory would hide the peak.
 */
import { join } from 'node:path';
import { addInitializer, addNode, addValue, getValue, makeModel } from '../../src/onnx/ir/edit.js';
import type { Model, ValueId } from '../../src/onnx/ir/model.js';
import { writeModel } from '../../src/onnx/serde/model-file.js';
import { encodeRawTensor } from '../../src/tensor/raw-tensor.js';
import { makeTensor } from '../../src/tensor/tensor.js';
import { importStage } from '../../stages/import/stage.js';
import { runStage, temporaryFolder } from './run-stage.js';

const [mode = '', path = '', layers = '', channels = ''] = process.argv.slice(2);
const folder = await temporaryFolder('import-memory');
try {
  if (mode === 'write') await writeModel(path, makeLayers(Number(layers), Number(channels)));
  else {
    await runStage(importStage, { params: {}, inputs: { model: path }, folder: folder.path });
    process.stdout.write(String(process.resourceUsage().maxRSS * 1024));
  }
} finally {
  await folder.remove();
}

function makeLayers(count: number, width: number): Model {
  const model = makeModel({ opset: 17, irVersion: 8, graphName: join('layers', String(count)) });
  const { graph } = model;
  const image = addValue(model, graph, 'image', { type: { kind: 'tensor', dtype: 'float32', dims: ['N', width, 4, 4] } });
  graph.inputs = [image.id];
  let last: ValueId | undefined = image.id;
  for (let layer = 0; layer < count; layer++) {
    const numbers = new Float32Array(width * width).map((_, index) => (((index + layer) % 13) - 6) / width);
    const weight = addInitializer(model, graph, `weight_${layer}`, encodeRawTensor(makeTensor('float32', [width, width, 1, 1], numbers)));
    [last] = addNode(model, graph, { opType: 'Conv', inputs: [last, weight.id], outputs: [`layer_${layer}`] }).outputs;
  }
  if (last !== undefined) {
    getValue(graph, last).type = { kind: 'tensor', dtype: 'float32', dims: undefined };
    graph.outputs = [last];
  }
  return model;
}
