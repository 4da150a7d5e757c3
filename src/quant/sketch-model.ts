/** What do one sample's activations look like? Every float32 tensor of a model, sketched while it is there. */

import type { Graph, Model, Node, Value } from '../onnx/ir/model.js';
import { type CaptureOptions, openCapture } from '../runtime/capture.js';
import type { Tensor } from '../tensor/tensor.js';
import type { SampleSketches } from './model-sketches.js';
import { QuantError } from './quant-error.js';
import { type Sketch, sketchTensor } from './sketch.js';
import { addressValues } from './value-address.js';

export interface Sketcher {
  /**
   * Runs the model once, on `feeds` by input name, and sketches inputs and computed values of type float32.
   * @throws QuantError `not-finite` at the first node in graph order that makes NaN or infinity of finite inputs; RuntimeError as `Capture.run`.
   */
  sample(feeds: Readonly<Record<string, Tensor>>): Promise<SampleSketches>;
  close(): Promise<void>;
}

/** Prepares `model`, whose nodes are in topological order, for any number of samples. @throws RuntimeError `model-load` with the first sample. */
export function openSketcher(model: Model, options: CaptureOptions): Sketcher {
  const addresses = addressValues(model);
  const capture = openCapture(model, options);
  return {
    async sample(feeds) {
      const sketches = new Map<string, Sketch>();
      await capture.run(feeds, (value, tensor) => {
        const address = addresses.get(value.id);
        if (tensor.dtype !== 'float32' || address === undefined) return;
        const sketch = sketchTensor(tensor.data);
        if (sketch.nan > 0 || sketch.infinite > 0) throw notFinite(model.graph, value, sketch);
        sketches.set(address, sketch);
      });
      return sketches;
    },
    close: () => capture.close(),
  };
}

function notFinite(graph: Graph, value: Value, sketch: Sketch): QuantError {
  const node: Node | undefined = value.producer === undefined ? undefined : graph.nodes.get(value.producer);
  const where = node === undefined ? `input "${value.name}" has` : `${node.opType} "${node.name}" gives value "${value.name}" with`;
  return new QuantError('not-finite', `${where} ${sketch.nan} NaN and ${sketch.infinite} infinite of ${sketch.count} elements`, {
    details: { value: value.name, node: node?.name ?? '', opType: node?.opType ?? '', nan: sketch.nan, infinite: sketch.infinite },
    help: 'values before it are finite: look at its weights and inputs',
  });
}
