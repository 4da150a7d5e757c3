/** The trained Mask R-CNN on ryzen-ai: MaxPool 1×1 and ConvTranspose have findings; after their rewrites each part of the detector is one NPU part. */
import type { MaskRcnnPart } from '../../../src/detection/families/maskrcnn/part-names.js';
import { getValue } from '../../../src/onnx/ir/edit.js';
import type { Model } from '../../../src/onnx/ir/model.js';
import { simplifyToFixedPoint } from '../../../src/onnx/passes/simplify.js';
import { rewriteModel } from '../../../src/onnx/rewrite/rewrite-model.js';
import { getRule } from '../../../src/onnx/rules/target/get-rule.js';
import { extractSubgraph } from '../../../src/onnx/surgery/extract.js';
import { PRESETS } from '../../../src/quant/scheme/scheme.js';
import { evaluate } from '../../../src/runtime/session/evaluate.js';
import { type CompiledModel, compileModel } from '../../../src/target/compile-model.js';
import { chooseTarget, getBuiltInProfile } from '../../../src/target/profile/choose-target.js';
import type { UnitReport } from '../../../src/target/report/compile-report.js';
import type { Tensor } from '../../../src/tensor/tensor.js';
import { generatedInput } from '../../support/generated-weights.js';
import { quantizeOn } from '../../support/quantize-small.js';
import { differingOutputs, findReportProblems, runParts, runWhole } from '../../support/run-parts.js';
import { exportShapes } from '../../support/shapes.js';

const target = chooseTarget(getBuiltInProfile('ryzen-ai'), { device: 'stx-krk', dtype: 'xint8' });
const exported = exportShapes({ roiBatch: 1 });

interface Example {
  readonly quantized: Model;
  readonly compiled: CompiledModel;
  readonly feeds: Readonly<Record<string, Tensor>>;
}

async function compilePart(part: MaskRcnnPart, rewrite?: { rule: string; form?: string }): Promise<Example> {
  const { model, recipe } = await exported;
  const float = extractSubgraph(model, recipe.parts[part]);
  await simplifyToFixedPoint(float, { evaluate, foldLimitBytes: 1 << 20, check: () => [] });
  if (rewrite !== undefined) {
    rewriteModel(float, { rules: [{ rule: getRule(rewrite.rule, rewrite.form), matches: 'one' }], edits: [], check: () => [] });
  }
  const feeds = Object.fromEntries(
    float.graph.inputs.map(id => {
      const { name, type } = getValue(float.graph, id);
      const dims = type?.kind === 'tensor' ? (type.dims ?? []).map(Number) : [];
      return [name, generatedInput(name, dims, 2)];
    }),
  );
  const quantized = await quantizeOn(float, feeds, PRESETS.xint8);
  return {
    quantized,
    feeds,
    compiled: await compileModel(part, quantized, target, { evaluate, undocumented: 'cpu', accept: 'quantized' }),
  };
}

async function expectEqualBits({ quantized, compiled, feeds }: Example): Promise<void> {
  expect(findReportProblems(compiled)).toEqual([]);
  const whole = await runWhole(quantized, feeds, 'basic');
  expect(differingOutputs(whole, await runParts(compiled.parts, feeds, 'basic'))).toEqual([]);
}

const onCpu = ({ compiled }: Example): UnitReport[] => compiled.report.units.filter(unit => unit.device === 'cpu');

describe('the backbone', () => {
  it('keeps its MaxPool 1×1 on the CPU, with measured value, limit, source and four fix-its', async () => {
    const example = await compilePart('backbone');
    const [pool] = onCpu(example).filter(unit => unit.findings.length > 0);
    expect(pool).toMatchObject({
      opType: 'MaxPool',
      findings: [
        {
          rule: 'kernel',
          severity: 'refused',
          measured: 'kernel 1×1',
          limit: '2 to 32 in each direction',
          source: { kind: 'observed', ref: 'https://github.com/anjn/ryzen-ai-mask-rcnn' },
          fixIts: [
            { rule: 'maxpool-1x1', form: 'depthwise', effect: 'exact' },
            { rule: 'maxpool-1x1', form: 'delta', effect: 'exact' },
            { rule: 'maxpool-1x1', form: 'slice', effect: 'exact' },
            { rule: 'maxpool-1x1', form: '3x3', effect: 'approximate' },
          ],
        },
      ],
    });
    expect(example.compiled.report.legal).toBe(false);
    await expectEqualBits(example);
  });

  it.each(['depthwise', 'delta', 'slice', '3x3'])('is one NPU part after the rewrite by form %s', async form => {
    const example = await compilePart('backbone', { rule: 'maxpool-1x1', form });
    expect(example.compiled.report).toMatchObject({ legal: true, counts: { parts: 1, npuParts: 1, cpuNodes: 0, npuMacShare: 1 } });
    await expectEqualBits(example);
  });
});

describe('the mask head', () => {
  it('has a ConvTranspose that XINT8 does not document, with its exact rewrite', async () => {
    const example = await compilePart('mask_head');
    const [unit] = onCpu(example).filter(one => one.findings.some(finding => finding.severity !== 'warning'));
    expect(unit).toMatchObject({
      opType: 'ConvTranspose',
      findings: [{ rule: 'operator', severity: 'undocumented', fixIts: [{ rule: 'conv-transpose-depth-to-space', effect: 'exact' }] }],
    });
    // The one Conv after it is an NPU part too.
    expect(example.compiled.report.counts.npuParts).toBe(2);
    await expectEqualBits(example);
  });

  it('is one NPU part after the rewrite', async () => {
    const example = await compilePart('mask_head', { rule: 'conv-transpose-depth-to-space' });
    expect(example.compiled.report).toMatchObject({ legal: true, counts: { parts: 1, npuParts: 1, cpuNodes: 0 } });
    await expectEqualBits(example);
  });
});

describe('the box head', () => {
  it('is one NPU part without a rewrite', async () => {
    const example = await compilePart('box_head');
    expect(example.compiled.report).toMatchObject({ legal: true, counts: { parts: 1, npuParts: 1, cpuNodes: 0 } });
    await expectEqualBits(example);
  });
});
