/** The parts run in sequence give the bits of the whole model, on random networks, schemes and placements, in ONNX Runtime at its basic level. */
import * as fc from 'fast-check';
import type { Model } from '../../../src/onnx/ir/model.js';
import { DEFAULT_OP_TYPES, PRESETS } from '../../../src/quant/scheme/scheme.js';
import { evaluate } from '../../../src/runtime/session/evaluate.js';
import { compileModel } from '../../../src/target/compile-model.js';
import type { UnitVerdict } from '../../../src/target/legality/judge-units.js';
import { extractPart, findPartEnds } from '../../../src/target/partition/extract-parts.js';
import { partitionUnits } from '../../../src/target/partition/partition.js';
import { chooseTarget, getBuiltInProfile } from '../../../src/target/profile/choose-target.js';
import { findNodeUnits } from '../../../src/target/units/node-units.js';
import { prepareModel } from '../../../src/target/units/prepare-model.js';
import { measureUnit } from '../../../src/target/units/unit-work.js';
import { quantizeOn } from '../../support/quantize-small.js';
import { CNN_DIMS, randomCnn } from '../../support/random-cnn.js';
import { differingOutputs, findPartitionProblems, findReportProblems, runParts, runWhole } from '../../support/run-parts.js';
import { randomFloats } from '../../support/small-model.js';

const FEEDS = { x: randomFloats([...CNN_DIMS], 99) };
const generic = chooseTarget(getBuiltInProfile('generic-int8'), {});
const ryzen = chooseTarget(getBuiltInProfile('ryzen-ai'), {});

/** Operators that stay in float become float islands. */
const scheme = fc.record({
  preset: fc.constantFrom('u8s8', 'a8w8', 'xint8' as const),
  float: fc.subarray(['Sigmoid', 'AveragePool', 'Add', 'MaxPool', 'Concat']),
});

function quantize(model: Model, { preset, float }: { preset: 'u8s8' | 'a8w8' | 'xint8'; float: readonly string[] }): Promise<Model> {
  return quantizeOn(model, FEEDS, { ...PRESETS[preset], opTypes: DEFAULT_OP_TYPES.filter(op => !float.includes(op)) });
}

describe('a partition', () => {
  it('by legality keeps every invariant, and its parts give the bits of the whole', async () => {
    await fc.assert(
      fc.asyncProperty(randomCnn, scheme, fc.constantFrom(generic, ryzen), async (model, chosen, target) => {
        const quantized = await quantize(model, chosen);
        const compiled = await compileModel('m', quantized, target, { evaluate, undocumented: 'cpu', accept: 'quantized' });
        expect(findReportProblems(compiled)).toEqual([]);
        const whole = await runWhole(quantized, FEEDS, 'basic');
        expect(differingOutputs(whole, await runParts(compiled.parts, FEEDS, 'basic'))).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });

  it('of randomly placed units does too', async () => {
    await fc.assert(
      fc.asyncProperty(randomCnn, scheme, fc.infiniteStream(fc.boolean()), async (model, chosen, coins) => {
        const quantized = await quantize(model, chosen);
        const prepared = await prepareModel(quantized, evaluate);
        const graph = findNodeUnits(prepared);
        const verdicts = graph.units.map((): UnitVerdict => ({ findings: [], admitted: coins.next().value, edge: false }));
        const works = graph.units.map(unit => measureUnit(prepared, unit));
        const { parts, partOf } = partitionUnits(graph, verdicts, generic, { works });
        expect(findPartitionProblems(graph, partOf)).toEqual([]);
        const models = findPartEnds(graph, parts).map(ends => extractPart(prepared, ends));
        const whole = await runWhole(quantized, FEEDS, 'basic');
        expect(differingOutputs(whole, await runParts(models, FEEDS, 'basic'))).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });
});
