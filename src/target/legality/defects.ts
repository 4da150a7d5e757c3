/** Warnings about forms of models that some boards compute wrong. */
import type { Model } from '../../onnx/ir/model.js';
import type { Target } from '../profile/choose-target.js';
import type { Finding } from '../report/finding.js';
import { makeFinding } from './unit-case.js';

/** A model with several outputs, where boards were observed to compute such models wrong. */
export function checkOutputs({ graph }: Model, target: Target): readonly Finding[] {
  const count = graph.outputs.length;
  if (count < 2) return [];
  return findDefects(target, 'several-outputs').map(({ source, note }) =>
    makeFinding(target, {
      rule: 'several-outputs',
      severity: 'warning',
      measured: `${count} outputs`,
      limit: '1',
      message: `the model has ${count} outputs; some models with several were observed to be wrong`,
      source,
      note,
    }),
  );
}

/** What a board user should know about several models of a bundle; empty where nothing is known. */
export function describeSeveralModels(target: Target, onNpu: number): readonly string[] {
  if (onNpu < 2) return [];
  return findDefects(target, 'several-models').map(
    ({ source, note }) => `${onNpu} models in one process: ${note} (${target.sourceOf(source).title})`,
  );
}

function findDefects({ graph: { defects } }: Target, rule: string): Target['graph']['defects'] {
  return defects.filter(defect => defect.rule === rule);
}
