/** A sweep of both models over all samples, layer by layer, so that a layer sees what the changed layers before it compute. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { getDefined } from '../../base/invariant.js';
import type { Model, ValueId } from '../../onnx/ir/model.js';
import { openSweep, type Stretch, type Sweep } from '../../runtime/capture/sweep.js';
import type { NamedTensors } from '../../runtime/session/model-inputs.js';
import type { Tensor } from '../../tensor/tensor.js';
import type { LayerTensors } from './layer-error.js';
import { orderByLayers } from './layer-order.js';
import type { LayerPair, LayerSide } from './layer-pairs.js';

export interface LayerSweepRequest<Target> {
  readonly float: Model;
  /** Is edited while the sweep advances. */
  readonly quantized: Model;
  readonly layers: readonly LayerPair<Target>[];
  /** Inputs of each sample, by the names of each model. */
  readonly samples: {
    readonly float: readonly (() => Promise<NamedTensors>)[];
    readonly quantized: readonly (() => Promise<NamedTensors>)[];
  };
  /** An empty folder. */
  readonly folder: string;
  /** As of `SweepRequest`, for each of the two models. */
  readonly memoryBytes?: number;
}

/** The next layer, open in both models. */
export interface OpenLayer<Target> {
  readonly pair: LayerPair<Target>;
  readonly float: Stretch;
  readonly quantized: Stretch;
}

export interface LayerRun {
  readonly float: LayerTensors;
  readonly quantized: LayerTensors;
  /** The first input of the quantized layer. */
  readonly input: Tensor;
}

export interface LayerSweep<Target> {
  /** Number of samples. */
  readonly samples: number;
  /** Index of the next layer. */
  next(): number;
  /** Opens the next layer. Constants are read now. */
  open(): OpenLayer<Target>;
  /** Opens the layer again after `edit` has changed it in the quantized model. */
  reopen(layer: OpenLayer<Target>, edit: () => void): Promise<OpenLayer<Target>>;
  run(layer: OpenLayer<Target>, sample: number): Promise<LayerRun>;
  /** Runs the quantized layer alone, as before `advance` of a layer that was opened again: the float one has run. */
  runQuantized(layer: OpenLayer<Target>, sample: number): Promise<void>;
  /** Advances behind the layer. Every sample must have been run since it was opened last. */
  advance(layer: OpenLayer<Target>): Promise<void>;
  /** Does work on the next layer. If it fails, the sessions that it left open are closed. */
  during<T>(work: () => Promise<T>): Promise<T>;
}

export async function openLayerSweep<Target>(request: LayerSweepRequest<Target>): Promise<LayerSweep<Target>> {
  const { layers, samples } = request;
  const sides = { float: await openSide(request, 'float'), quantized: await openSide(request, 'quantized') };
  let next = 0;
  return {
    samples: samples.float.length,
    next: () => next,
    open: () => ({ pair: getDefined(layers[next], 'next layer'), float: sides.float.open(next), quantized: sides.quantized.open(next) }),
    async reopen(layer, edit) {
      await layer.quantized.close('repeat');
      edit();
      return { ...layer, quantized: sides.quantized.open(next) };
    },
    async run({ pair, float, quantized }, sample) {
      const own = await float.run(sample);
      const other = await quantized.run(sample);
      const input = getDefined(pair.quantized.node.inputs[0], 'input of a layer');
      return {
        float: tensorsOf(own, pair.float),
        quantized: tensorsOf(other, pair.quantized),
        input: getDefined(other.get(input), 'input'),
      };
    },
    async runQuantized({ quantized }, sample) {
      await quantized.run(sample);
    },
    async advance({ float, quantized }) {
      await float.close('keep');
      await quantized.close('keep');
      next++;
    },
    during: work => sides.float.during(() => sides.quantized.during(work)),
  };
}

/** The sweep of one model; `open` opens the stretch of a layer. */
async function openSide<Target>(
  { layers, folder, samples, memoryBytes = 0, ...models }: LayerSweepRequest<Target>,
  side: 'float' | 'quantized',
) {
  const own = join(folder, side);
  await mkdir(own);
  const sides: readonly LayerSide[] = layers.map(pair => pair[side]);
  const { order, ends } = orderByLayers(models[side], sides);
  const sweep: Sweep = openSweep({ model: models[side], order, samples: samples[side], folder: own, memoryBytes });
  const open = (index: number): Stretch => {
    const { computed, seen, node } = getDefined(sides[index], 'layer');
    const inputs = side === 'quantized' ? node.inputs.slice(0, 1).flatMap(id => id ?? []) : [];
    return sweep.open(getDefined(ends[index], 'end'), [...new Set([computed, seen, ...inputs])]);
  };
  return { open, during: sweep.during };
}

function tensorsOf(values: ReadonlyMap<ValueId, Tensor>, { computed, seen }: LayerSide): LayerTensors {
  return { computed: getDefined(values.get(computed), 'computed value'), seen: getDefined(values.get(seen), 'seen value') };
}
