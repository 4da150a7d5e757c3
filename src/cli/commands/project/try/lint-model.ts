/** Lints the simplified float model for `tanren try`: every data type of the target, and the rewrites that would help. */
import { basename } from 'node:path';
import type { Model } from '../../../../onnx/ir/model.js';
import { readModel } from '../../../../onnx/serde/model-file.js';
import type { Advice } from '../../../../target/advice/advice.js';
import { adviseModel } from '../../../../target/advice/advise.js';
import { compileModel } from '../../../../target/compile-model.js';
import { chooseTarget, getBuiltInProfile } from '../../../../target/profile/choose-target.js';
import type { TriedRow } from './tried.js';

export interface Linted {
  readonly nodes: number;
  /** Per data type of the target, the model as it is. */
  readonly float: readonly TriedRow[];
  readonly advice: Advice;
}

/** The target of drafted pipelines. */
const TARGET = 'ryzen-ai';

export async function lintModel(path: string): Promise<Linted> {
  const model = await readModel(path);
  const profile = getBuiltInProfile(TARGET);
  const options = {
    evaluate: async (part: Model) => (await import('../../../../runtime/session/evaluate.js')).evaluate(part),
    undocumented: 'cpu',
    largerBatch: 'cpu',
  } as const;
  const { advice } = await adviseModel(model, profile, chooseTarget(profile, { dtype: 'a8w8' }), options);
  const float: TriedRow[] = [];
  for (const { dtype } of advice.dtypes) {
    const { report } = await compileModel(basename(path), model, chooseTarget(profile, { dtype }), { ...options, accept: 'any' });
    const { npuMacShare, cpuNodes, npuParts } = report.counts;
    float.push({ preset: dtype, npuShare: npuMacShare, cpuNodes, parts: npuParts, estimatedMs: report.estimate.image.perImage.ms });
  }
  return { nodes: model.graph.nodes.size, float, advice };
}
