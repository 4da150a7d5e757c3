import type { Plan, StageId } from '../../../../src/engine/model/plan.js';
import type { SettingOverride } from '../../../../src/engine/planning/override-settings.js';
import { dependsOn, mergePlans } from '../../../../src/engine/sweep/merge-plans.js';
import { chooseTargets } from '../../../../src/engine/sweep/sweep-targets.js';
import { planText } from '../../../support/pipeline-file.js';

const TEXT = `version: 1
params: {mode: fast}
stages:
  a: {uses: make}
  b: {uses: make, foreach: [x, y], with: {mode: "\${mode}"}}
  judge: {uses: judge, foreach: [x, y], inputs: {model: "b@\${item}.model"}}
  still: {uses: judge, inputs: {model: a.model}}
`;

async function planOf(params: readonly string[] = [], settings: readonly SettingOverride[] = []): Promise<Plan> {
  const { plan, diagnostics } = await planText(TEXT, { params, settings });
  if (plan === undefined) throw new Error(JSON.stringify(diagnostics));
  return plan;
}

const size = (target: string, value: number): SettingOverride => ({ target, path: ['size'], value });
const id = (text: string): StageId => text as StageId;

describe('the plan of all configurations', () => {
  it('has a stage once per form of it, and stages that are equal everywhere once', async () => {
    const base = await planOf();
    const plans = [await planOf(), await planOf([], [size('b@x', 4)]), await planOf([], [size('b', 4)])];
    const { plan, stages, changed } = mergePlans(base, plans);

    const forms = ['b@x~1', 'b@x~2', 'b@y~1', 'b@y~2', 'judge@x~1', 'judge@x~2', 'judge@y~1', 'judge@y~2'];
    expect([...plan.stages.keys()].sort()).toEqual(['a', ...forms, 'still']);
    expect(stages.map(ids => [ids.get(id('b@x')), ids.get(id('b@y')), ids.get(id('still'))])).toEqual([
      ['b@x~1', 'b@y~1', 'still'],
      ['b@x~2', 'b@y~1', 'still'],
      ['b@x~2', 'b@y~2', 'still'],
    ]);
    expect(plan.stages.get(id('judge@x~2'))?.inputs.model).toMatchObject({ kind: 'artifact', stage: 'b@x~2' });
    expect([...changed].sort()).toEqual(['b@x', 'b@y', 'judge@x', 'judge@y']);
    expect(plan.pipeline).toBe('.sweep-pipeline');
  });

  it('is in a topological order', async () => {
    const { plan } = mergePlans(await planOf(), [await planOf(['mode=exact']), await planOf([], [size('a', 9)])]);
    const seen = new Set<StageId>();
    for (const stage of plan.stages.values()) {
      for (const binding of Object.values(stage.inputs)) if (binding.kind === 'artifact') expect(seen).toContain(binding.stage);
      seen.add(stage.id);
    }
  });

  it('knows what depends on what', async () => {
    const plan = await planOf();
    expect(dependsOn(plan, id('judge@x'), new Set([id('b@x')]))).toBe(true);
    expect(dependsOn(plan, id('judge@x'), new Set([id('b@y'), id('judge@x')]))).toBe(false);
  });
});

describe('the targets of a sweep', () => {
  it('are the changed stages with metrics, once per form', async () => {
    const plans = [await planOf([], [size('b@x', 4)]), await planOf([], [size('b@x', 5)])];
    const merged = mergePlans(await planOf(), plans);
    expect(chooseTargets(plans, merged, 'changed')).toEqual({ build: ['judge@x~1', 'judge@x~2'], reported: ['judge@x'] });
  });

  it('one configuration is compared with the pipeline as it stands', async () => {
    const plans = [await planOf(['mode=exact'])];
    const merged = mergePlans(await planOf(), plans);
    expect(chooseTargets(plans, merged, 'changed').reported).toEqual(['judge@x', 'judge@y']);
  });

  it('are all stages with metrics where nothing changes', async () => {
    const plans = [await planOf()];
    expect(chooseTargets(plans, mergePlans(await planOf(), plans), 'changed').reported).toEqual(['judge@x', 'judge@y', 'still']);
  });

  it('are those that the user names', async () => {
    const plans = [await planOf([], [size('b', 4)]), await planOf([], [size('b', 5)])];
    const merged = mergePlans(await planOf(), plans);
    const asked = plans.map(() => [id('judge@y'), id('still')]);
    expect(chooseTargets(plans, merged, asked)).toEqual({ build: ['judge@y~1', 'still', 'judge@y~2'], reported: ['judge@y'] });
  });
});
