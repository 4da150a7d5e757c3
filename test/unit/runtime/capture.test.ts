/** Capture of every intermediate tensor of a model. */
import { ints } from '../../../src/onnx/ir/attribute.js';
import type { Model } from '../../../src/onnx/ir/model.js';
import { parseModelText } from '../../../src/onnx/text/parse-text.js';
import { encodeSampleSketches } from '../../../src/quant/calibration/model-sketches.js';
import { openSketcher } from '../../../src/quant/calibration/sketch-model.js';
import { openCapture } from '../../../src/runtime/capture/capture.js';
import { cutSegments } from '../../../src/runtime/capture/segments.js';
import { makeTensor } from '../../../src/tensor/tensor.js';
import { failureOf } from '../../support/error-code.js';
import { smallGraph } from '../quant/small-graph.js';

/** A graph with a skip over several nodes, a shared weight, and an intermediate value of another dtype. */
function skipping(): Model {
  const small = smallGraph();
  small.input('x', ['n', 2, 4, 4]);
  small.floats(
    'w',
    [2, 2, 3, 3],
    Array.from({ length: 36 }, (_, i) => Math.sin(i)),
  );
  small.node('Conv x w -> a', { pads: ints([1, 1, 1, 1]) });
  small.node('Relu a -> b');
  small.node('Shape b -> s');
  small.node('Conv b w -> c', { pads: ints([1, 1, 1, 1]) });
  small.node('Reshape c s -> d');
  small.node('Add d x -> y');
  small.output('y');
  for (const value of small.model.graph.values.values()) {
    if (value.constant !== undefined) continue;
    value.type =
      value.name === 's' ? { kind: 'tensor', dtype: 'int64', dims: [4] } : { kind: 'tensor', dtype: 'float32', dims: ['n', 2, 4, 4] };
  }
  return small.model;
}

const sample = (rows: number) => ({
  x: makeTensor(
    'float32',
    [rows, 2, 4, 4],
    Float32Array.from({ length: 32 * rows }, (_, i) => Math.cos(i)),
  ),
});

async function capture(budgetBytes: number, rows = 3): Promise<string> {
  const sketcher = openSketcher(skipping(), { budgetBytes, freeDim: 1 });
  try {
    return JSON.stringify(encodeSampleSketches(await sketcher.sample(sample(rows))));
  } finally {
    await sketcher.close();
  }
}

describe('capture', () => {
  it('visits inputs and every computed tensor of every dtype in graph order', async () => {
    const model = skipping();
    const opened = openCapture(model, { budgetBytes: 200, freeDim: 1 });
    const seen: string[] = [];
    await opened.run(sample(1), (value, { dtype, dims }) => void seen.push(`${value.name} ${dtype} ${dims.join('x')}`));
    await opened.close();
    expect(seen).toEqual([
      'x float32 1x2x4x4',
      'a float32 1x2x4x4',
      'b float32 1x2x4x4',
      's int64 4',
      'c float32 1x2x4x4',
      'd float32 1x2x4x4',
      'y float32 1x2x4x4',
    ]);
  });

  it('the budget sets the number of segments and changes no byte', async () => {
    const pieces = (budgetBytes: number) => cutSegments(skipping().graph, { budgetBytes, freeDim: 1 }).length;
    expect([1, 300, 1e9].map(pieces)).toEqual([6, 3, 1]);
    const whole = await capture(1e9);
    expect(await capture(1)).toBe(whole);
    expect(await capture(300)).toBe(whole);
  });

  it('visits the chosen values alone, with the same elements, wherever segments are cut', async () => {
    const model = skipping();
    const visit = async (budgetBytes: number, names?: readonly string[]): Promise<ReadonlyMap<string, readonly number[]>> => {
      const ids = [...model.graph.values.values()].filter(({ name }) => names?.includes(name)).map(({ id }) => id);
      const opened = openCapture(model, { budgetBytes, freeDim: 1, ...(names === undefined ? {} : { visited: new Set(ids) }) });
      const seen = new Map<string, readonly number[]>();
      await opened.run(sample(2), ({ name }, { data }) => void seen.set(name, [...(data as Float32Array)].map(Number)));
      await opened.close();
      return seen;
    };
    const all = await visit(1e9);
    for (const names of [['x', 'b', 'd'], ['a'], ['y'], []])
      for (const budgetBytes of [1, 300, 1e9])
        expect(await visit(budgetBytes, names)).toEqual(new Map(names.map(name => [name, all.get(name)])));
  });

  it('batches may differ between runs', async () => {
    const model = skipping();
    const opened = openCapture(model, { budgetBytes: 300, freeDim: 1 });
    for (const rows of [2, 5, 1]) {
      const counts: number[] = [];
      await opened.run(sample(rows), (_value, { dims }) => void counts.push(dims[0] ?? 0));
      expect(counts.filter((_, i) => i !== 3)).toEqual(Array(6).fill(rows));
    }
    await opened.close();
  });

  it('a batch may have another size than the model declares', async () => {
    const model = skipping();
    for (const value of model.graph.values.values()) {
      if (value.type?.kind === 'tensor' && value.constant === undefined && value.name !== 's')
        value.type = { ...value.type, dims: [8, 2, 4, 4] };
    }
    const opened = openCapture(model, { budgetBytes: 300, freeDim: 1 });
    const shapes: string[] = [];
    await opened.run(sample(3), (_value, { dims }) => void shapes.push(dims.join('x')));
    await opened.close();
    expect(new Set(shapes)).toEqual(new Set(['3x2x4x4', '4']));
  });

  it('a missing input is an error that names it', async () => {
    const opened = openCapture(skipping(), { budgetBytes: 1e9, freeDim: 1 });
    expect(await failureOf(() => opened.run({}, () => undefined))).toEqual({ code: 'missing-input', message: 'input "x" is missing' });
  });
});

describe('a NaN or infinite value', () => {
  it('is an error that names the node that computed it, not later ones', async () => {
    const small = smallGraph();
    small.input('x', [2]);
    small.node('Identity x -> a');
    small.node('Log a -> b');
    small.node('Relu b -> c');
    small.output('c');
    const sketcher = openSketcher(small.model, { budgetBytes: 1, freeDim: 1 });
    const feeds = { x: makeTensor('float32', [2], Float32Array.from([-1, 2])) };
    expect(await failureOf(() => sketcher.sample(feeds))).toMatchObject({
      code: 'not-finite',
      message: 'Log "Log_b" computed value "b" with 1 NaN and 0 infinite of 2 elements',
    });
    await sketcher.close();
  });

  it('in an input is an error that names the input', async () => {
    const small = smallGraph();
    small.input('x', [1]);
    small.node('Relu x -> y');
    small.output('y');
    const sketcher = openSketcher(small.model, { budgetBytes: 1, freeDim: 1 });
    const feeds = { x: makeTensor('float32', [1], Float32Array.from([Number.POSITIVE_INFINITY])) };
    await expect(sketcher.sample(feeds)).rejects.toMatchObject({
      message: 'input "x" has 0 NaN and 1 infinite of 1 elements',
      help: 'the input data contains them: check how the data was prepared',
    });
    await sketcher.close();
  });
});

describe('a Resize whose sizes are computed', () => {
  it.each([1, 1 << 20])('loads with their number, which ONNX Runtime requires, with a budget of %d bytes', async budgetBytes => {
    const model = parseModelText(`g (float[1, 1, 2, 2] x, float[1, 1, 4, 6] other) => (float[] y)
      <int64[1] two = {2}, int64[1] four = {4}, int64[1] zero = {0}, int64[4] sizes, int64[2] front, int64[2] back, int64[4] s, int64[4] so> {
      s = Shape(x)  so = Shape(other)  front = Slice(s, zero, two)  back = Slice(so, two, four)  sizes = Concat<axis = 0>(front, back)
      y = Resize<mode = "nearest", coordinate_transformation_mode = "asymmetric", nearest_mode = "floor">(x, , , sizes) }`);
    const shapes: Record<string, readonly number[]> = {};
    const pieces = openCapture(model, { budgetBytes, freeDim: 1 });
    const zeros = (dims: readonly number[]) => makeTensor('float32', dims, new Float32Array(dims.reduce((a, b) => a * b, 1)));

    await pieces.run({ x: zeros([1, 1, 2, 2]), other: zeros([1, 1, 4, 6]) }, ({ name }, { dims }) => {
      shapes[name] = dims;
    });
    await pieces.close();

    expect(shapes).toMatchObject({ sizes: [4], y: [1, 1, 4, 6] });
  });
});
