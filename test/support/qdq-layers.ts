/** Layers of networks as AMD's quantizer leaves them for XINT8: operators, shapes, Q and DQ; weights are not trained. */
import { float, int, ints, string } from '../../src/onnx/ir/attribute.js';
import type { Model } from '../../src/onnx/ir/model.js';
import { type QdqGraph, qdqGraph } from './qdq-graph.js';
import { floats, integers } from './small-model.js';

/** A quantized tensor: name, channels, height and width. */
export interface FeatureMap {
  readonly name: string;
  readonly channels: number;
  readonly size: number;
}

type Activation = 'none' | 'relu' | 'swish' | 'sigmoid';

interface ConvOptions {
  readonly kernel: number;
  readonly stride?: number;
  readonly depthwise?: boolean;
  readonly activation?: Activation;
}

/** A growing graph. Swish and HardSwish become HardSigmoid and Mul, each average has a factor, as AMD's quantizer writes them; that of each HardSigmoid is left out. */
export class QdqLayers {
  readonly #graph: QdqGraph = qdqGraph();
  #count = 0;

  input(size: number): FeatureMap {
    this.#graph.input('image', [1, 3, size, size]);
    this.#graph.float('factor', floats([], [1.0048828125]));
    return { name: 'image', channels: 3, size };
  }

  conv(x: FeatureMap, channels: number, { kernel, stride = 1, depthwise = false, activation = 'none' }: ConvOptions): FeatureMap {
    const out = this.#next();
    this.#graph.constant(`${out}_w`, [channels, depthwise ? 1 : x.channels, kernel, kernel]);
    this.#graph.constant(`${out}_b`, [channels]);
    const pad = (kernel - 1) >> 1;
    this.#graph.unit('Conv', [x.name, `${out}_w`, `${out}_b`], [out], {
      attributes: { strides: ints([stride, stride]), pads: ints([pad, pad, pad, pad]), group: int(depthwise ? x.channels : 1) },
      ...(activation === 'relu' ? { activation: 'Relu' } : {}),
    });
    const map = { name: out, channels, size: Math.ceil(x.size / stride) };
    if (activation === 'swish') return this.multiply(map, this.#hardSigmoid(map));
    return activation === 'sigmoid' ? this.#hardSigmoid(map) : map;
  }

  #hardSigmoid(x: FeatureMap): FeatureMap {
    const out = this.#next();
    this.#graph.unit('HardSigmoid', [x.name], [out], { attributes: { alpha: float(1 / 6), beta: float(0.5) } });
    return { ...x, name: out };
  }

  add(a: FeatureMap, b: FeatureMap, activation: 'none' | 'relu' = 'none'): FeatureMap {
    const out = this.#next();
    this.#graph.unit('Add', [a.name, b.name], [out], activation === 'relu' ? { activation: 'Relu' } : {});
    return { ...a, name: out };
  }

  multiply(a: FeatureMap, b: FeatureMap): FeatureMap {
    const out = this.#next();
    this.#graph.unit('Mul', [a.name, b.name], [out]);
    return { ...a, name: out };
  }

  maxPool(x: FeatureMap, kernel: number, stride: number): FeatureMap {
    const out = this.#next();
    const pad = (kernel - 1) >> 1;
    const attributes = { kernel_shape: ints([kernel, kernel]), strides: ints([stride, stride]), pads: ints([pad, pad, pad, pad]) };
    this.#graph.unit('MaxPool', [x.name], [out], { attributes });
    return { ...x, name: out, size: Math.ceil(x.size / stride) };
  }

  /** Over the whole map; in two steps where it has more than 512 positions. */
  average(x: FeatureMap): FeatureMap {
    const first = x.size * x.size > 512 ? this.#averageTiles(x, 2 ** Math.ceil(Math.log2(x.size / 16))) : x;
    const out = this.#next();
    this.#graph.unit('GlobalAveragePool', [first.name], [out], { activation: 'Mul', activationInputs: ['factor'] });
    return { ...x, name: out, size: 1 };
  }

  #averageTiles(x: FeatureMap, kernel: number): FeatureMap {
    const out = this.#next();
    const attributes = { kernel_shape: ints([kernel, kernel]), strides: ints([kernel, kernel]) };
    this.#graph.unit('AveragePool', [x.name], [out], { attributes });
    return { ...x, name: out, size: x.size / kernel };
  }

  double(x: FeatureMap): FeatureMap {
    const out = this.#next();
    this.#graph.float(`${out}_scales`, floats([4], [1, 1, 2, 2]));
    const attributes = { mode: string('nearest'), coordinate_transformation_mode: string('asymmetric'), nearest_mode: string('floor') };
    this.#graph.unit('Resize', [x.name, '', `${out}_scales`], [out], { attributes });
    return { ...x, name: out, size: 2 * x.size };
  }

  /** Both halves of the channels, as two Slice. */
  halves(x: FeatureMap): readonly [FeatureMap, FeatureMap] {
    const half = x.channels / 2;
    return [this.#slice(x, 0, half), this.#slice(x, half, x.channels)];
  }

  #slice(x: FeatureMap, from: number, to: number): FeatureMap {
    const out = this.#next();
    for (const [name, value] of [
      ['starts', from],
      ['ends', to],
      ['axes', 1],
    ] as const)
      this.#graph.float(`${out}_${name}`, integers([value]));
    this.#graph.unit('Slice', [x.name, `${out}_starts`, `${out}_ends`, `${out}_axes`], [out]);
    return { ...x, name: out, channels: to - from };
  }

  concat(maps: readonly FeatureMap[]): FeatureMap {
    const out = this.#next();
    this.#graph.unit(
      'Concat',
      maps.map(({ name }) => name),
      [out],
      { attributes: { axis: int(1) } },
    );
    const [first] = maps;
    if (first === undefined) throw new Error('a Concat of nothing');
    return { ...first, name: out, channels: maps.reduce((sum, { channels }) => sum + channels, 0) };
  }

  flatten(x: FeatureMap): FeatureMap {
    const out = this.#next();
    this.#graph.unit('Flatten', [x.name], [out]);
    return { ...x, name: out };
  }

  linear(x: FeatureMap, outputs: number, activation?: 'swish'): FeatureMap {
    const out = this.#next();
    this.#graph.constant(`${out}_w`, [outputs, x.channels]);
    this.#graph.constant(`${out}_b`, [outputs]);
    this.#graph.unit('Gemm', [x.name, `${out}_w`, `${out}_b`], [out], { attributes: { transB: int(1) } });
    const map = { name: out, channels: outputs, size: 1 };
    return activation === undefined ? map : this.multiply(map, this.#hardSigmoid(map));
  }

  finish(...outputs: readonly FeatureMap[]): Model {
    this.#graph.output(...outputs.map(({ name }) => name));
    return this.#graph.build();
  }

  #next(): string {
    return `t${this.#count++}`;
  }
}
