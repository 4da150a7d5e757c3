/** Opens models in the arithmetic of a device: what `runner: simulate` of the stages runs. */

import { getValue } from '../../onnx/ir/edit.js';
import type { Graph, Model } from '../../onnx/ir/model.js';
import { findConstantValue } from '../../onnx/rewrite/graph-view.js';
import { decodeModel } from '../../onnx/serde/decode-model.js';
import { encodeModel } from '../../onnx/serde/encode-model.js';
import { readModel } from '../../onnx/serde/model-file.js';
import { inferShapes } from '../../onnx/shape-inference/infer-shapes.js';
import type { OpenSimulated } from '../../runtime/open-runner.js';
import { addsExactly } from '../../runtime/session/integer-kernels.js';
import { listModelInputs } from '../../runtime/session/model-inputs.js';
import { type OpenModel, openSession, type Session } from '../../runtime/session/session.js';
import type { DType } from '../../tensor/dtype.js';
import { QuantError } from '../integers/quant-error.js';
import { roundModel } from './floats/rounded-model.js';
import { nudgeModel } from './nudged-model.js';
import { openPlainExecutor } from './plain/executor.js';
import { findExactValues } from './steps/exact-values.js';
import { isShiftMode, type RoundingMode } from './steps/rounding-mode.js';

/**
 * In integers, models without QuantizeLinear run as they are: a device leaves them to the host.
 * The opened models throw QuantError `simulate-scales`, `simulate-subgraph`, `simulate-quantized`.
 */
export const openSimulated: OpenSimulated =
  ({ arithmetic, rounding }, warn): OpenModel =>
  async (file, options) => {
    const model = typeof file === 'string' ? await readModel(file) : decodeModel(file);
    if (arithmetic !== 'integers') return openSession(encodeModel(roundModel(model, arithmetic)), options);
    if (!isQuantized(model.graph)) return openSession(file, options);
    if (rounding === 'ort') {
      const types = new Set(listActivationTypes(model));
      if (!types.has('int8')) return openSession(file, options);
      if (!types.has('uint8') || (await addsExactly())) return openSession(file, { ...options, quantized: 'integers' });
      warn(
        'simulated node by node, which is slow, since ONNX Runtime does not add both int8 and uint8 activations exactly on this processor',
      );
    }
    if (!isShiftMode(rounding)) return openPlain(model, rounding);
    assertPowerOfTwo(model, rounding);
    const nudged = nudgeModel(model, rounding);
    if (nudged.kind === 'model') return openSession(encodeModel(nudged.model), { ...options, quantized: 'float' });
    warn(`simulated node by node, which is slow, since float32 is not exact for this model: ${nudged.reason}`);
    return openPlain(model, rounding);
  };

function isQuantized({ nodes }: Graph): boolean {
  return [...nodes.values()].some(({ opType }) => opType === 'QuantizeLinear');
}

/** Types of the activations that DequantizeLinear reads. */
function listActivationTypes(model: Model): readonly (DType | undefined)[] {
  const types = inferShapes(model, { stated: 'ignore' });
  return [...model.graph.nodes.values()].flatMap(({ opType, inputs: [input] }) =>
    opType !== 'DequantizeLinear' || input === undefined || findConstantValue(model, input) !== undefined ? [] : [types.get(input)?.dtype],
  );
}

/** @throws QuantError `simulate-scales` if no layer has scales that are powers of two. */
function assertPowerOfTwo({ graph }: Model, rounding: RoundingMode): void {
  const { steps } = findExactValues(graph);
  if ([...steps.values()].some(({ kind }) => kind !== 'dequantize')) return;
  throw new QuantError('simulate-scales', `rounding ${rounding} is for scales that are powers of two, and no layer of the model has them`, {
    help: 'simulate with `rounding: ort` or `tflite`, or quantize with the preset xint8',
  });
}

function openPlain(model: Model, rounding: RoundingMode): Session {
  const { graph } = model;
  const executor = openPlainExecutor(model, rounding);
  return {
    inputNames: listModelInputs(model).map(({ name }) => name),
    outputNames: graph.outputs.map(id => getValue(graph, id).name),
    async run(feeds, fetches) {
      const outputs = await executor.run(feeds);
      return fetches === undefined ? outputs : Object.fromEntries(Object.entries(outputs).filter(([name]) => fetches.includes(name)));
    },
    close: executor.close,
  };
}
