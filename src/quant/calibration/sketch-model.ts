/** Sketches every float32 tensor of a model while the model runs on one sample. */
import { getDefined } from '../../base/invariant.js';
import type { Graph, Model, Node, Value, ValueId } from '../../onnx/ir/model.js';
import { type CaptureOptions, openCapture } from '../../runtime/capture/capture.js';
import type { Tensor } from '../../tensor/tensor.js';
import { QuantError } from '../integers/quant-error.js';
import { countByEdges, edgesOf } from '../ort-compat/ort-histogram.js';
import type { OrtBinnings, SampleCounts } from '../ort-compat/ort-observed.js';
import { findChannelRanges } from '../sketch/channel-ranges.js';
import { type Sketch, sketchTensor } from '../sketch/sketch.js';
import { findMasks, hasFarElements } from './mask-constants.js';
import type { SampleSketches } from './model-sketches.js';
import { addressValues } from './value-address.js';

export interface Sketcher {
  /**
   * Runs the model once on `feeds` (by input name) and sketches its float32 inputs and computed values.
   * @throws QuantError `no-float32` if the model computes no such value; `not-finite` at the first node in graph order that computes NaN from finite inputs, or
   *   infinity that no mask explains; RuntimeError as `Capture.run`.
   */
  sample(feeds: Readonly<Record<string, Tensor>>, channels?: 'none' | 'each'): Promise<SampleSketches>;
  /** Runs the model again and counts elements in the bins of `binnings`, by address. The bins must cover every element. */
  count(feeds: Readonly<Record<string, Tensor>>, binnings: OrtBinnings): Promise<SampleCounts>;
  close(): Promise<void>;
}

/** Prepares `model` for any number of samples. Its nodes must be in topological order. @throws RuntimeError `model-load` with the first sample. */
export function openSketcher(model: Model, options: CaptureOptions): Sketcher {
  const addresses = addressValues(model);
  const capture = openCapture(model, options);
  /** What may be a mask on some sample. */
  let possible: ReadonlySet<ValueId> | undefined;
  const finite = ({ id }: Value, data: Float32Array): Float32Array => {
    possible ??= findMasks(model.graph, () => undefined);
    return possible.has(id) ? data.filter(Number.isFinite) : data;
  };
  return {
    async sample(feeds, channels = 'none') {
      const sketches = new Map<string, Sketch>();
      const far = new Map<ValueId, boolean>();
      const odd: (readonly [Value, Sketch])[] = [];
      await capture.run(feeds, (value, tensor) => {
        const address = addresses.get(value.id);
        if (tensor.dtype !== 'float32' || address === undefined) return;
        const sketch = sketchTensor(tensor.data);
        far.set(value.id, hasFarElements(sketch));
        if (sketch.nan > 0 || sketch.infinite > 0) odd.push([value, sketch]);
        sketches.set(address, channels === 'none' ? sketch : { ...sketch, channels: findChannelRanges(tensor.data, tensor.dims) });
      });
      if (sketches.size === 0) throw withoutFloats(model.graph);
      assertExplained(model.graph, odd, id => far.get(id));
      return sketches;
    },
    async count(feeds, binnings) {
      const counts = new Map<string, readonly Float64Array[]>();
      const edges = new Map([...binnings].map(([address, own]) => [address, own.map(edgesOf)]));
      await capture.run(feeds, (value, tensor) => {
        const address = addresses.get(value.id);
        const own = address === undefined ? undefined : binnings.get(address);
        if (tensor.dtype !== 'float32' || address === undefined || own === undefined) return;
        const data = finite(value, tensor.data);
        counts.set(
          address,
          own.map((binning, i) => countByEdges(data, binning, getDefined(edges.get(address)?.[i], 'edges'))),
        );
      });
      return counts;
    },
    close: () => capture.close(),
  };
}

/** @throws QuantError `not-finite` at the first value with NaN, or with infinity that comes from no mask. */
function assertExplained(graph: Graph, odd: readonly (readonly [Value, Sketch])[], hasFar: (id: ValueId) => boolean | undefined): void {
  if (odd.length === 0) return;
  const masks = findMasks(graph, hasFar);
  for (const [value, sketch] of odd)
    if (sketch.nan > 0 || value.producer === undefined || !masks.has(value.id)) throw notFinite(graph, value, sketch);
}

function withoutFloats({ values }: Graph): QuantError {
  const isHalf = [...values.values()].some(({ type }) => type?.kind === 'tensor' && type.dtype === 'float16');
  return new QuantError(
    'no-float32',
    `the model computes no float32 value${isHalf ? ', but float16 ones' : ''}: nothing can be calibrated`,
    {
      help: isHalf ? 'set `float16: widen` of `import`' : 'calibrate a model of float32 values',
    },
  );
}

function notFinite(graph: Graph, value: Value, sketch: Sketch): QuantError {
  const node: Node | undefined = value.producer === undefined ? undefined : graph.nodes.get(value.producer);
  const where = node === undefined ? `input "${value.name}" has` : `${node.opType} "${node.name}" computed value "${value.name}" with`;
  return new QuantError('not-finite', `${where} ${sketch.nan} NaN and ${sketch.infinite} infinite of ${sketch.count} elements`, {
    details: { value: value.name, node: node?.name ?? '', opType: node?.opType ?? '', nan: sketch.nan, infinite: sketch.infinite },
    help:
      node === undefined
        ? 'the input data contains them: check how the data was prepared'
        : 'all earlier values are finite: check the weights and inputs of this node',
  });
}
