/** Conformance of shape inference with onnx. Oracle: recorded types of onnx 1.23.1, without and with data propagation. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Dim } from '../../../src/onnx/ir/model.js';
import { readModel } from '../../../src/onnx/serde/model-file.js';
import type { Known } from '../../../src/onnx/shape-inference/context/node-context.js';
import { inferShapes, isMadeDim } from '../../../src/onnx/shape-inference/infer-shapes.js';
import { DTYPES } from '../../../src/tensor/dtype.js';
import { findSharedFolder } from '../../support/shared-folder.js';

const shared = findSharedFolder();

const LIGHT = ['bvlc_alexnet', 'densenet121', 'inception_v1', 'inception_v2', 'resnet50', 'shufflenet', 'squeezenet', 'vgg19', 'zfnet512'];

/** Recording → model. */
const MODELS: Readonly<Record<string, string>> = {
  derived__maskrcnn2go_deq_fp32: 'models/maskrcnn2go/maskrcnn2go_deq_fp32.onnx',
  'fastestdet__example__onnx-runtime__FastestDet': 'models/fastestdet/FastestDet.onnx',
  'mobilenetv2-maui__test_data__model': 'models/mobilenetv2/qdq_reference/model.onnx',
  ...Object.fromEntries(LIGHT.map(name => [`onnx-backend-test__light__light_${name}`, `conformance/onnx/light/light_${name}.onnx`])),
  paddle2onnx__hardwares__rk__detection__picodet__weights__onnx__picodet_s_320_coco: 'models/picodet/picodet_s_320_coco.onnx',
  'ultraface__models__onnx__version-RFB-320': 'models/ultraface/version-RFB-320.onnx',
  'yolox-nano__model__yolox_nano': 'models/yolox-nano/yolox_nano.onnx',
};

/**
 * The number of values for which our inference knows more: onnx propagates data from opset 13 on, ours in every opset.
 * It therefore knows the rank after the Reshape of opset 9.
 */
const MORE_IS_KNOWN: Readonly<Record<string, number>> = { 'ultraface__models__onnx__version-RFB-320': 27 };

type Recorded = readonly [dtype: number, dims: readonly Dim[] | null];
type Verdict = 'equal' | 'more' | 'less' | 'different';

/** Compares one type. Like ours, onnx names a dim that it cannot infer "unk__n"; the numbers are its own. */
function judge([dtype, dims]: Recorded, known: Known | undefined): Verdict {
  if (known?.dtype === undefined || DTYPES[known.dtype].onnx !== dtype) return 'different';
  if (dims === null) return known.dims === undefined ? 'equal' : 'more';
  if (known.dims === undefined) return 'less';
  if (dims.length !== known.dims.length) return 'different';
  const verdicts = dims.map((dim, axis) => judgeDim(dim, known.dims?.[axis]));
  return (['different', 'less', 'more'] as const).find(verdict => verdicts.includes(verdict)) ?? 'equal';
}

function judgeDim(recorded: Dim, ours: Dim): Verdict {
  if (recorded === ours || (isMadeDim(recorded) && isMadeDim(ours))) return 'equal';
  if (isMadeDim(recorded)) return 'more';
  return isMadeDim(ours) ? 'less' : 'different';
}

/** Counts names of dims that map to more than one of our names. */
function countNameClashes(recorded: Readonly<Record<string, Recorded>>, known: ReadonlyMap<string, Known>): number {
  const names = new Map<string, Dim>();
  let clashes = 0;
  for (const [value, [, dims]] of Object.entries(recorded)) {
    for (const [axis, dim] of (dims ?? []).entries()) {
      const ours = known.get(value)?.dims?.[axis];
      if (typeof dim !== 'string' || !isMadeDim(dim)) continue;
      if (names.has(dim) && names.get(dim) !== ours) clashes++;
      names.set(dim, ours);
    }
  }
  return clashes;
}

(shared === undefined ? describe.skip : describe)('shape inference against onnx', () => {
  it.each(
    Object.entries(MODELS).flatMap(([recording, model]) =>
      (['plain', 'data_prop'] as const).map(mode => [model, mode, recording] as const),
    ),
  )('%s, %s', async (path, mode, recording) => {
    const file = join(shared ?? '', 'conformance/shape-inference', `${recording}.onnx.json`);
    const recorded = (JSON.parse(readFileSync(file, 'utf8')) as Record<string, Record<string, Recorded>>)[mode] ?? {};
    const model = await readModel(join(shared ?? '', path));
    const types = inferShapes(model, { dataPropagation: mode === 'plain' ? 'off' : 'on' });
    const known = new Map(
      [...model.graph.values.values()].map(value => [value.name, types.get(value.id) ?? { dtype: undefined, dims: undefined }]),
    );
    const verdicts = Object.entries(recorded).map(([name, type]) => [judge(type, known.get(name)), name] as const);
    const named = (wanted: Verdict): string[] => verdicts.flatMap(([verdict, name]) => (verdict === wanted ? [name] : []));
    expect(verdicts.length).toBeGreaterThan(0);
    expect({ different: named('different'), less: named('less') }).toEqual({ different: [], less: [] });
    expect(named('more')).toHaveLength(MORE_IS_KNOWN[recording] ?? 0);
    expect(countNameClashes(recorded, known)).toBe(0);
  });
});
